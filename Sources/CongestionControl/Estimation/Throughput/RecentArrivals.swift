internal import RTCShareWireFormat

/// The arrival rate of the most recent packets that waited in a queue. The path delivered them as fast as it can, so
/// that this rate is its capacity, found sooner than by an estimate of the throughput.
///
/// Source: none in libwebrtc, whose estimates follow a decrease of the capacity within a second.
struct RecentArrivals: Sendable {
    /// The length of the window.
    static let window = Duration.milliseconds(300)
    /// The minimum duration for a rate.
    static let minimumSpan = Duration.milliseconds(150)
    static let capacity = 1024

    private(set) var packets: [(arrival: Duration, size: Int)] = []

    /// The rate; nil if too few packets arrived.
    var rate: DataRate? {
        guard let first = packets.first, let last = packets.last, packets.count >= 5 else { return nil }
        let span = last.arrival - first.arrival
        guard span >= Self.minimumSpan else { return nil }
        return DataRate(byteCount: packets.reduce(0) { $0 + $1.size } - first.size, over: span)
    }

    /// Adds packets in order of arrival, after `queueing` has processed them. A packet that arrived before earlier
    /// ones, or had not waited, resets the window.
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
