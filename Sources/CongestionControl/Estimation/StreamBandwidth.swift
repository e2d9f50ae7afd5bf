package import RTCShareWireFormat

/// The progress of a TCP connection, as the kernel reports it.
package struct StreamProgress: Sendable, Hashable {
    /// The number of bytes that were sent so far, without retransmissions.
    package let sent: UInt64
    /// The number of bytes that the peer has acknowledged so far.
    package let acknowledged: UInt64
    /// The number of written bytes that have not been sent yet.
    package let unsent: Int
    /// The smoothed round-trip time.
    package let roundTripTime: Duration
    /// The minimum round-trip time.
    package let minimumRoundTripTime: Duration

    /// Creates a report of progress.
    package init(
        sent: UInt64, acknowledged: UInt64, unsent: Int, roundTripTime: Duration,
        minimumRoundTripTime: Duration
    ) {
        self.sent = sent
        self.acknowledged = acknowledged
        self.unsent = unsent
        self.roundTripTime = roundTripTime
        self.minimumRoundTripTime = minimumRoundTripTime
    }
}

/// Estimates the bandwidth of a TCP connection to the peer from the bytes that it acknowledges.
///
/// TCP has its own congestion control, and retransmits by itself: arrival times show its retransmissions, not the path.
/// So this does not look for the path's capacity, but follows TCP:
///
/// ```
///   bytes wait to be sent ──▶ their rate is TCP's ──▶ target: a little below, so that they don't wait for long
///   none wait, and the target is in use ──▶ target grows
///   bytes wait in a queue on the path   ──▶ target falls once, and waits until the queue is empty
/// ```
package struct StreamBandwidth: Sendable {
    /// The bitrate that media can use.
    package private(set) var target: DataRate
    private var bounds: (minimum: DataRate, maximum: DataRate)
    /// The reports of the last ``window``, the oldest first.
    private var reports: [(progress: StreamProgress, at: Instant)] = []
    /// The time since which bytes have been waiting; nil while none wait.
    private var waitingSince: Instant?
    private var grown: Instant?
    /// The time of the last decrease.
    private var lowered: Instant?
    /// The current queue on the path, as it was when the target was lowered for it, or after ``drainTime``.
    private var queue: (since: Instant, roundTripTime: Duration)?

    /// The interval of reports.
    package static let reportInterval = Duration.milliseconds(25)
    /// The time over which the rate of acknowledged bytes is measured: a retransmission must not dominate it.
    private static let window = Duration.milliseconds(600)
    /// The minimum time of waiting bytes that shows TCP's rate: for an increase, and for a decrease.
    private static let (briefWait, longWait) = (Duration.milliseconds(100), Duration.milliseconds(250))
    /// The ratio of the target to TCP's rate.
    private static let share = 0.9
    /// The same if TCP has filled a queue on the path.
    private static let queuedShare = 0.75
    /// The growth of the round-trip time that shows such a queue.
    private static let queueing = Duration.milliseconds(60)
    /// The time in which a queue of this connection becomes shorter. Other connections' queues are not waited for.
    private static let drainTime = Duration.seconds(2)
    /// The growth of a target in use in each ``growthInterval``, and the same before the first decrease.
    private static let (growth, startGrowth) = (1.08, 1.25)
    private static let growthInterval = Duration.milliseconds(200)
    /// The least ratio of a target to the one before: a retransmission shows no rate.
    private static let largestCut = 0.5
    /// The ratio of the bytes sent to the target from which the target is in use.
    private static let usedShare = 0.7

    /// Creates an estimate for a connection without reports.
    package init(start: DataRate, minimum: DataRate, maximum: DataRate) {
        bounds = (minimum, max(minimum, maximum))
        target = min(max(start, minimum), bounds.maximum)
    }

    /// Sets the minimum and maximum target.
    package mutating func setBounds(minimum: DataRate, maximum: DataRate) {
        bounds = (minimum, max(minimum, maximum))
        target = bounded(target)
    }

    /// Whether the next report is due.
    package func isDue(now: Instant) -> Bool {
        reports.last.map { now - $0.at >= Self.reportInterval } ?? true
    }

    /// Processes a report.
    package mutating func receive(_ progress: StreamProgress, now: Instant) {
        if let last = reports.last {
            let isOther = progress.acknowledged < last.progress.acknowledged || progress.sent < last.progress.sent
            if isOther || now < last.at { reports = [] }
        }
        let hasAdvanced = reports.last.map { progress.acknowledged > $0.progress.acknowledged } ?? false
        reports.append((progress, now))
        while reports.count > 2, now - reports[1].at >= Self.window { reports.removeFirst() }
        if progress.unsent > 0 { waitingSince = waitingSince ?? now } else { waitingSince = nil }
        let isQueued = progress.roundTripTime - progress.minimumRoundTripTime > Self.queueing
        if !isQueued { queue = nil }
        if let waitingSince {
            // While TCP retransmits, it acknowledges nothing, and then much at once.
            if hasAdvanced { follow(waitingSince, progress, isQueued: isQueued, now: now) }
        } else if grown.map({ now - $0 >= Self.growthInterval }) ?? true, let sample = sample(since: reports[0].at) {
            grown = now
            guard sample.sent >= target * Self.usedShare else { return }
            if isQueued, waitsForQueue(progress, sample.rate, now: now) { return }
            target = bounded(target * (lowered == nil ? Self.startGrowth : Self.growth))
        }
    }

    /// Lowers the target once for a queue on the path. Returns whether to wait until it is empty.
    private mutating func waitsForQueue(_ progress: StreamProgress, _ rate: DataRate, now: Instant) -> Bool {
        guard let queue else {
            queue = (now, progress.roundTripTime)
            lowered = now
            target = bounded(min(target, rate * Self.queuedShare))
            return true
        }
        guard now - queue.since >= Self.drainTime else { return true }
        guard progress.roundTripTime < queue.roundTripTime else { return false }
        self.queue = (now, progress.roundTripTime)
        return true
    }

    /// Sets the target by TCP's rate while bytes wait.
    private mutating func follow(
        _ waitingSince: Instant, _ progress: StreamProgress, isQueued: Bool, now: Instant
    ) {
        // The first round trip acknowledges what was sent before.
        guard let sample = sample(since: waitingSince.advanced(by: min(progress.roundTripTime, Self.window))) else {
            return
        }
        let followed = bounded(sample.rate * (isQueued ? Self.queuedShare : Self.share))
        if followed > target {
            target = followed
        } else if sample.time >= Self.longWait, lowered.map({ now - $0 >= Self.longWait }) ?? true {
            lowered = now
            target = max(followed, target * Self.largestCut)
        }
    }

    /// Returns the rates of acknowledged and sent bytes since the first report at or after `start`; nil if that is too
    /// recent.
    private func sample(since start: Instant) -> (rate: DataRate, sent: DataRate, time: Duration)? {
        guard let first = reports.first(where: { $0.at >= start }), let last = reports.last else { return nil }
        let time = last.at - first.at
        guard time >= Self.briefWait else { return nil }
        func rate(_ count: KeyPath<StreamProgress, UInt64>) -> DataRate {
            let bytes = last.progress[keyPath: count] - first.progress[keyPath: count]
            return DataRate(byteCount: Int(clamping: bytes), over: time)
        }
        return (rate(\.acknowledged), rate(\.sent), time)
    }

    private func bounded(_ rate: DataRate) -> DataRate { min(max(rate, bounds.minimum), bounds.maximum) }
}
