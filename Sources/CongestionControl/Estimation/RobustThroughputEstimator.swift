public import WireFormat

/// At which rate packets arrive, over the last 20 packets or the last second, whichever is more; a single pause of the
/// path does not count.
///
/// Source: libwebrtc, `goog_cc/robust_throughput_estimator`, the default there in place of
/// `AcknowledgedBitrateEstimator`. Deviations: no bytes of packets without transport-wide numbers are added, for here
/// all have one.
public struct RobustThroughputEstimator: Sendable {
    private struct Packet: Sendable {
        let sent: Instant
        let arrival: Duration
        let size: Int
    }

    /// Packets without which there is no estimate.
    public static let requiredPackets = 10
    /// Packets that are looked at even where they took longer than `minimumWindow`.
    public static let windowPackets = 20
    /// The time that is looked at even where more packets arrived in it.
    public static let minimumWindow = Duration.seconds(1)
    private static let largestWindow = Duration.seconds(5)
    private static let packetLimit = 500
    private static let reorderingLimit = Duration.seconds(1)
    private static let shortestTime = Duration.milliseconds(1)

    /// By arrival, from the oldest to the newest.
    private var window: [Packet] = []
    /// When the last of the packets that left the window was sent.
    private var latestDropped: Instant?

    /// Nothing arrived yet.
    public init() {}

    /// Takes what feedback says; what is lost says nothing here.
    public mutating func receive(_ results: [TransportFeedbackTracker.PacketResult]) {
        for result in results {
            guard let arrival = result.arrival else { continue }
            insert(Packet(sent: result.sent, arrival: arrival, size: result.size))
        }
        var dropped = 0
        while dropped < window.count, isTooMuch(after: dropped) {
            latestDropped = max(latestDropped ?? window[dropped].sent, window[dropped].sent)
            dropped += 1
        }
        window.removeFirst(dropped)
    }

    /// The lower of the rates at which the packets were sent and at which they arrived; nil while there are too few.
    public var estimate: DataRate? {
        guard window.count >= Self.requiredPackets, let first = window.first, let last = window.last else { return nil }
        var largestGap = Duration.zero
        var secondGap = Duration.zero
        var bytes = 0
        for (index, packet) in window.enumerated() {
            bytes += packet.size
            let gap = index > 0 ? packet.arrival - window[index - 1].arrival : .zero
            if gap > largestGap {
                secondGap = largestGap
                largestGap = gap
            } else {
                secondGap = max(secondGap, gap)
            }
        }
        // The largest gap counts as if it were the second largest: a pause says nothing of the rate.
        let span = last.arrival - first.arrival - largestGap + secondGap
        let arrivalRate = DataRate(byteCount: bytes - first.size, over: max(span, Self.shortestTime))
        return sendRate.map { min($0, arrivalRate) } ?? arrivalRate
    }

    /// The rate at which the packets were sent, without those that belong among the ones that left the window; nil
    /// where too few are left.
    private var sendRate: DataRate? {
        let packets = window.filter { packet in latestDropped.map { packet.sent >= $0 } ?? true }
        guard packets.count >= Self.requiredPackets, var last = packets.first else { return nil }
        var first = last.sent
        for packet in packets {
            first = min(first, packet.sent)
            if packet.sent > last.sent { last = packet }
        }
        let bytes = packets.reduce(0) { $0 + $1.size } - last.size
        return DataRate(byteCount: bytes, over: max(last.sent - first, Self.shortestTime))
    }

    private mutating func insert(_ packet: Packet) {
        // So late that the receiver's clock must have been set: begin anew.
        if let last = window.last, last.arrival - packet.arrival > Self.reorderingLimit {
            self = RobustThroughputEstimator()
            return
        }
        let index = window.lastIndex { $0.arrival <= packet.arrival }.map { $0 + 1 } ?? 0
        window.insert(packet, at: index)
    }

    private func isTooMuch(after dropped: Int) -> Bool {
        guard let last = window.last else { return false }
        let count = window.count - dropped
        let span = last.arrival - window[dropped].arrival
        return count > Self.packetLimit || span > Self.largestWindow
            || count > Self.windowPackets && span > Self.minimumWindow
    }
}
