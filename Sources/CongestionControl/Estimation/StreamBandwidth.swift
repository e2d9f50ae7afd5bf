package import RTCShareWireFormat

/// The progress of a TCP connection, as the kernel reports it.
package struct StreamProgress: Sendable, Hashable {
    /// The number of bytes that the peer has acknowledged so far.
    package let acknowledged: UInt64
    /// The same with the bytes after a lost segment that the peer has reported as received.
    package let delivered: UInt64
    /// The number of written bytes that have not been sent yet.
    package let unsent: Int
    /// The congestion window: the number of bytes that TCP sends in a round trip.
    package let window: Int
    /// The smoothed round-trip time.
    package let roundTripTime: Duration
    /// The minimum round-trip time.
    package let minimumRoundTripTime: Duration

    /// Creates a report of progress.
    package init(
        acknowledged: UInt64, delivered: UInt64, unsent: Int, window: Int, roundTripTime: Duration,
        minimumRoundTripTime: Duration
    ) {
        self.acknowledged = acknowledged
        self.delivered = delivered
        self.unsent = unsent
        self.window = window
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
///   TCP's congestion window is smaller  ──▶ target: a little below what the window carries
/// ```
package struct StreamBandwidth: Sendable {
    /// The bitrate that media can use.
    package var target: DataRate { bounded(min(estimate, ceiling ?? estimate)) }
    /// The estimate by the bytes that arrive.
    private var estimate: DataRate
    /// The rate that TCP's congestion window carries: after a loss it falls at once, and the estimate later. Nil if unknown.
    private var ceiling: DataRate?
    /// Whether the congestion window limits the target (``Deviations/streamWindow``).
    private let usesWindow: Bool
    private var bounds: (minimum: DataRate, maximum: DataRate)
    /// The reports of the last ``window``, the oldest first.
    private var reports: [(progress: StreamProgress, at: Instant)] = []
    /// The time since which bytes have been waiting; nil while none wait.
    private var waitingSince: Instant?
    private var grown: Instant?
    /// The time of the last decrease.
    private var lowered: Instant?

    /// The interval of reports.
    package static let reportInterval = Duration.milliseconds(25)
    /// The time over which the rate of delivered bytes is measured: a retransmission must not dominate it.
    private static let window = Duration.milliseconds(600)
    /// The minimum time of waiting bytes that shows TCP's rate.
    private static let longWait = Duration.milliseconds(250)
    /// The minimum time of a rate that shows whether the target is in use.
    private static let briefTime = Duration.milliseconds(100)
    /// The ratio of the target to TCP's rate.
    private static let share = 0.9
    /// The same if TCP has filled a queue on the path.
    private static let queuedShare = 0.75
    /// The growth of the round-trip time that shows such a queue.
    private static let queueing = Duration.milliseconds(100)
    /// The growth of a target in use in each ``growthInterval``.
    private static let growth = 1.08
    private static let growthInterval = Duration.milliseconds(200)
    /// The least ratio of a target to the one before: a retransmission shows no rate.
    private static let largestCut = 0.5
    /// The ratio of the bytes sent to the target from which the target is in use.
    private static let usedShare = 0.7

    /// Creates an estimate for a connection without reports.
    package init(start: DataRate, minimum: DataRate, maximum: DataRate, usesWindow: Bool = true) {
        self.usesWindow = usesWindow
        bounds = (minimum, max(minimum, maximum))
        estimate = min(max(start, minimum), bounds.maximum)
    }

    /// Sets the minimum and maximum target.
    package mutating func setBounds(minimum: DataRate, maximum: DataRate) {
        bounds = (minimum, max(minimum, maximum))
        estimate = bounded(estimate)
    }

    /// Whether the next report is due.
    package func isDue(now: Instant) -> Bool {
        reports.last.map { now - $0.at >= Self.reportInterval } ?? true
    }

    /// Processes a report.
    package mutating func receive(_ progress: StreamProgress, now: Instant) {
        if let last = reports.last, now < last.at || progress.acknowledged < last.progress.acknowledged { reports = [] }
        if usesWindow, progress.roundTripTime > .zero {
            ceiling = DataRate(byteCount: progress.window, over: progress.roundTripTime) * Self.share
        }
        let hasAdvanced = reports.last.map { progress.acknowledged > $0.progress.acknowledged } ?? false
        reports.append((progress, now))
        while reports.count > 2, now - reports[1].at >= Self.window { reports.removeFirst() }
        if progress.unsent > 0 { waitingSince = waitingSince ?? now } else { waitingSince = nil }
        if let waitingSince {
            // While TCP retransmits, it acknowledges nothing, and then much at once.
            if hasAdvanced { follow(waitingSince, progress, now: now) }
        } else if grown.map({ now - $0 >= Self.growthInterval }) ?? true, let sample = sample(since: reports[0].at) {
            grown = now
            if sample.rate >= estimate * Self.usedShare { estimate = bounded(estimate * Self.growth) }
        }
    }

    /// Sets the target by TCP's rate while bytes wait.
    private mutating func follow(_ waitingSince: Instant, _ progress: StreamProgress, now: Instant) {
        // The first round trip acknowledges what was sent before.
        guard let sample = sample(since: waitingSince.advanced(by: min(progress.roundTripTime, Self.window))) else {
            return
        }
        let isQueued = progress.roundTripTime - progress.minimumRoundTripTime > Self.queueing
        let followed = bounded(sample.rate * (isQueued ? Self.queuedShare : Self.share))
        guard sample.time >= Self.longWait else { return }
        if followed > estimate {
            estimate = followed
        } else if lowered.map({ now - $0 >= Self.longWait }) ?? true {
            lowered = now
            estimate = max(followed, estimate * Self.largestCut)
        }
    }

    /// Returns the rate of delivered bytes since the first report at or after `start`; nil if that is too recent.
    private func sample(since start: Instant) -> (rate: DataRate, time: Duration)? {
        guard let first = reports.first(where: { $0.at >= start }), let last = reports.last else { return nil }
        let time = last.at - first.at
        guard time >= Self.briefTime else { return nil }
        let bytes = max(last.progress.delivered, first.progress.delivered) - first.progress.delivered
        return (DataRate(byteCount: Int(clamping: bytes), over: time), time)
    }

    private func bounded(_ rate: DataRate) -> DataRate { min(max(rate, bounds.minimum), bounds.maximum) }
}
