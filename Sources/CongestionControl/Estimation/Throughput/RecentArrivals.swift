internal import RTCShareWireFormat

/// At which rate packets arrived over the last moments that had waited on the path, one after the other, as fast as the
/// path gave them out: what it carries, found sooner than by an estimate of the throughput.
///
/// Source: none in libwebrtc, whose estimates follow a fall of the capacity within a second.
struct RecentArrivals: Sendable {
    /// What is looked at.
    static let window = Duration.milliseconds(300)
    /// Less time than this tells no rate.
    static let minimumSpan = Duration.milliseconds(150)
    static let capacity = 1024

    private(set) var packets: [(arrival: Duration, size: Int)] = []

    /// The rate; nil where too little arrived.
    var rate: DataRate? {
        guard let first = packets.first, let last = packets.last, packets.count >= 5 else { return nil }
        let span = last.arrival - first.arrival
        guard span >= Self.minimumSpan else { return nil }
        return DataRate(byteCount: packets.reduce(0) { $0 + $1.size } - first.size, over: span)
    }

    /// Takes packets in the order of arrival, once `queueing` knows them. One that arrived before those known, or had not
    /// waited, begins anew.
    mutating func receive(_ arrived: [TransportFeedbackTracker.PacketResult], queueing: QueueingDelay) {
        for result in arrived {
            guard let arrival = result.arrival else { continue }
            let hasWaited = queueing.delay(of: result).map { $0 >= QueueingDelay.jitter } ?? false
            if !hasWaited || packets.last.map({ arrival < $0.arrival }) ?? false {
                packets.removeAll(keepingCapacity: true)
            }
            packets.append((arrival, result.size))
        }
        guard let last = packets.last else { return }
        let kept = packets.lastIndex { last.arrival - $0.arrival > Self.window }.map { $0 + 1 } ?? 0
        let excess = max(kept, packets.count - Self.capacity)
        if excess > 0 { packets.removeFirst(excess) }
    }
}
