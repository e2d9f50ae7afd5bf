internal import WireFormat

/// At which rate packets arrived over the last moments: faster, and less even, than an estimate of the throughput.
///
/// Source: none in libwebrtc, whose estimates follow a fall of the capacity within a second.
struct RecentArrivals: Sendable {
    /// What is looked at.
    static let window = Duration.milliseconds(300)
    /// Less time than this tells no rate.
    static let minimumSpan = Duration.milliseconds(150)
    private static let capacity = 1024

    private var packets: [(arrival: Duration, size: Int)] = []

    /// The rate; nil where too little arrived.
    var rate: DataRate? {
        guard let first = packets.first, let last = packets.last, packets.count >= 5 else { return nil }
        let span = last.arrival - first.arrival
        guard span >= Self.minimumSpan else { return nil }
        return DataRate(byteCount: packets.reduce(0) { $0 + $1.size } - first.size, over: span)
    }

    /// Takes packets in the order of arrival; one that arrived before those known begins anew.
    mutating func receive(_ arrived: [TransportFeedbackTracker.PacketResult]) {
        for result in arrived {
            guard let arrival = result.arrival else { continue }
            if let last = packets.last, arrival < last.arrival { packets = [] }
            packets.append((arrival, result.size))
        }
        guard let last = packets.last else { return }
        let kept = packets.lastIndex { last.arrival - $0.arrival > Self.window }.map { $0 + 1 } ?? 0
        packets.removeFirst(max(kept, packets.count - Self.capacity))
    }
}
