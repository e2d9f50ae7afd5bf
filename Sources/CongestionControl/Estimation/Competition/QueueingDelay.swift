internal import RTCShareWireFormat

/// How long packets wait on the path, beyond the least time that one took in the last minutes.
///
/// The clocks of both ends need not agree: only differences count, and the least time is forgotten after some minutes, in
/// which clocks drift apart by little. Source: none in libwebrtc; RFC 6817 3.4.2 (LEDBAT) keeps its base delay likewise.
struct QueueingDelay: Sendable {
    struct Sample: Sendable {
        let time: Instant
        let sent: Instant
        /// The shortest of one feedback, on the base.
        let transit: Duration
    }

    /// How long a least time counts, within the length of a period.
    static let baseTime = Duration.seconds(300)
    private static let basePeriod = Duration.seconds(30)
    /// What is remembered of single delays.
    static let historyTime = Duration.seconds(5)
    /// Feedback that comes oftener than a hundred times a second is remembered for less time.
    static let historyCapacity = 512
    /// A transit that differs this much from the one before is that of another clock.
    private static let clockJump = Duration.seconds(10)

    /// The least transits of past periods, from the oldest.
    private var bases: [(begin: Instant, transit: Duration)] = []
    private(set) var samples: [Sample] = []
    /// The least of ``bases``: kept, for it is asked of every packet.
    private var base: Duration?

    /// Packets that wait less than this do so by jitter.
    static let jitter = Duration.milliseconds(20)

    /// How long a packet waited; nil where it did not arrive, or nothing is known.
    func delay(of packet: TransportFeedbackTracker.PacketResult) -> Duration? {
        guard let base, let arrival = packet.arrival else { return nil }
        return arrival - .nanoseconds(packet.sent.nanoseconds) - base
    }

    /// The delay of the newest feedback; nil where there is none.
    var current: Duration? { newest?.delay }

    /// The delay of the newest feedback, and when the packet left that had it.
    var newest: (delay: Duration, sent: Instant)? {
        guard let base, let last = samples.last else { return nil }
        return (last.transit - base, last.sent)
    }

    /// The least delay since `time`; nil where what is known does not reach back to then.
    func lowest(since time: Instant) -> Duration? {
        guard let base, let first = samples.first, first.time <= time else { return nil }
        return samples.lazy.filter { $0.time >= time }.map(\.transit).min().map { $0 - base }
    }

    /// The longest delay since `time`, and when the packet left that had it.
    func highest(since time: Instant) -> (delay: Duration, sent: Instant)? {
        guard let base else { return nil }
        // In the order of time, so that the newest are at the end.
        var highest: Sample?
        for sample in samples.reversed() {
            guard sample.time >= time else { break }
            // Of equals the oldest.
            if highest.map({ $0.transit <= sample.transit }) ?? true { highest = sample }
        }
        return highest.map { ($0.transit - base, $0.sent) }
    }

    /// Takes the packets of one feedback that arrived.
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
