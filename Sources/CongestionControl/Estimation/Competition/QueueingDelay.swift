internal import RTCShareWireFormat

/// The time that packets wait on the path, in addition to the minimum transit time of the last minutes.
///
/// The clocks of both ends need not agree, since only differences count. The minimum expires after some minutes, in
/// which clocks drift little. Source: none in libwebrtc; RFC 6817 3.4.2 (LEDBAT) has a similar base delay.
struct QueueingDelay: Sendable {
    struct Sample: Sendable {
        let time: Instant
        let sent: Instant
        /// The minimum transit time in one feedback, compared with the base.
        let transit: Duration
    }

    /// The time for which a minimum counts, to the precision of a period.
    static let baseTime = Duration.seconds(300)
    private static let basePeriod = Duration.seconds(30)
    /// The time for which single delays are stored.
    static let historyTime = Duration.seconds(5)
    /// The maximum number of stored delays. Feedback more often than a hundred times per second is stored for less
    /// time.
    static let historyCapacity = 512
    /// The change of transit time that indicates a change of clock.
    private static let clockJump = Duration.seconds(10)

    /// The minimum transit times of past periods, from the oldest.
    private var bases: [(begin: Instant, transit: Duration)] = []
    private(set) var samples: [Sample] = []
    /// The minimum of ``bases``, cached because every packet needs it.
    private var base: Duration?

    /// The delay below which packets wait because of jitter.
    static let jitter = Duration.milliseconds(20)

    /// Returns the time that a packet waited; nil if it did not arrive, or the base is unknown.
    func delay(of packet: TransportFeedbackTracker.PacketResult) -> Duration? {
        guard let base, let arrival = packet.arrival else { return nil }
        return arrival - .nanoseconds(packet.sent.nanoseconds) - base
    }

    /// The delay of the latest feedback; nil if there is none.
    var current: Duration? { newest?.delay }

    /// The delay of the latest feedback, and the sending time of its packet.
    var newest: (delay: Duration, sent: Instant)? {
        guard let base, let last = samples.last else { return nil }
        return (last.transit - base, last.sent)
    }

    /// Returns the minimum delay since `time`; nil if the samples do not cover that period.
    func lowest(since time: Instant) -> Duration? {
        guard let base, let first = samples.first, first.time <= time else { return nil }
        return samples.lazy.filter { $0.time >= time }.map(\.transit).min().map { $0 - base }
    }

    /// Returns the maximum delay since `time`, and the sending time of its packet.
    func highest(since time: Instant) -> (delay: Duration, sent: Instant)? {
        guard let base else { return nil }
        // The samples are in order of time, so that the newest are at the end.
        var highest: Sample?
        for sample in samples.reversed() {
            guard sample.time >= time else { break }
            // Of equal delays this takes the oldest.
            if highest.map({ $0.transit <= sample.transit }) ?? true { highest = sample }
        }
        return highest.map { ($0.transit - base, $0.sent) }
    }

    /// Processes the arrived packets of one feedback.
    mutating func receive(_ arrived: [TransportFeedbackTracker.PacketResult], now: Instant) {
        var shortest: (transit: Duration, sent: Instant)?
        for result in arrived {
            guard let arrival = result.arrival else { continue }
            let transit = arrival - .nanoseconds(result.sent.nanoseconds)
            if shortest.map({ transit < $0.transit }) ?? true { shortest = (transit, result.sent) }
        }
        guard let (least, sent) = shortest else { return }
        if let last = samples.last {
            let change = least - last.transit
            if change > Self.clockJump || change < .zero - Self.clockJump {
                bases = []
                base = nil
                samples = []
            }
        }
        samples.append(Sample(time: now, sent: sent, transit: least))
        let kept = samples.firstIndex { now - $0.time <= Self.historyTime } ?? samples.count - 1
        let excess = max(kept - 1, samples.count - Self.historyCapacity)
        if excess > 0 { samples.removeFirst(excess) }
        if let last = bases.indices.last, now - bases[last].begin < Self.basePeriod {
            if least < bases[last].transit { bases[last].transit = least }
            base = min(base ?? least, least)
        } else {
            bases.append((now, least))
            bases.removeAll { now - $0.begin > Self.baseTime }
            base = bases.map(\.transit).min()
        }
    }
}
