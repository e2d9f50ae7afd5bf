package import RTCShareWireFormat

/// The rate at which packets arrive, over the last 20 packets or the last second, whichever is more. A single pause of
/// the path does not count.
///
/// Source: libwebrtc, `goog_cc/robust_throughput_estimator`, the default there. Deviations: no bytes of packets without
/// transport-wide numbers are added, since all packets here have one.
package struct RobustThroughputEstimator: Sendable {
    /// A packet in the window. A room has thousands of these windows, each with a second's packets, so that times are
    /// 64-bit nanoseconds.
    struct Packet: Sendable {
        let sent: Int64
        let arrival: Int64
        let size: Int
    }

    /// The minimum number of packets for an estimate.
    package static let requiredPackets = 10
    /// The minimum number of packets in the window, even if they took longer than `minimumWindow`.
    package static let windowPackets = 20
    /// The minimum time of the window, even if more packets arrived in it.
    package static let minimumWindow = Duration.seconds(1)
    private static let largestSpan: Int64 = 5_000_000_000
    private static let roomyCapacity = 64
    static let packetLimit = 500
    private static let reorderingLimit: Int64 = 1_000_000_000
    private static let shortestTime: Int64 = 1_000_000
    private static let latestArrival: Int64 = 1 << 60
    private static let minimumSpan = minimumWindow.wholeNanoseconds

    /// The packets by arrival, from the oldest to the newest.
    private(set) var window: [Packet] = []
    /// The sending time of the newest packet that left the window.
    private var latestDropped: Int64?
    /// The lower of the sending rate and the arrival rate of the packets; nil if there are too few.
    package private(set) var estimate: DataRate?

    /// Creates an estimator without packets.
    package init() {}

    /// Processes feedback. Lost packets are ignored.
    package mutating func receive(_ results: [TransportFeedbackTracker.PacketResult]) {
        for result in results {
            guard let arrival = result.arrival else { continue }
            // The receiver's times are arbitrary: no difference must overflow.
            let time = min(max(arrival.wholeNanoseconds, -Self.latestArrival), Self.latestArrival)
            insert(Packet(sent: result.sent.nanoseconds, arrival: time, size: result.size))
        }
        var dropped = 0
        while dropped < window.count, isTooMuch(after: dropped) { dropped += 1 }
        drop(dropped)
        if window.capacity > Self.roomyCapacity, window.capacity > 2 * window.count { shrink() }
        estimate = currentRate
    }

    /// Releases memory that probes needed.
    private mutating func shrink() {
        var smaller: [Packet] = []
        smaller.reserveCapacity(window.count * 3 / 2)
        smaller.append(contentsOf: window)
        window = smaller
    }

    private var currentRate: DataRate? {
        guard window.count >= Self.requiredPackets, let first = window.first, let last = window.last else { return nil }
        var largestGap: Int64 = 0
        var secondGap: Int64 = 0
        var bytes = 0
        var before = first.arrival
        for packet in window {
            bytes += packet.size
            let gap = packet.arrival - before
            before = packet.arrival
            if gap > largestGap {
                secondGap = largestGap
                largestGap = gap
            } else {
                secondGap = max(secondGap, gap)
            }
        }
        // The largest gap counts as the second largest, since a pause does not affect the rate.
        let span = last.arrival - first.arrival - largestGap + secondGap
        let arrivalRate = Self.rate(bytes - first.size, over: span)
        return sendRate.map { min($0, arrivalRate) } ?? arrivalRate
    }

    /// The rate at which the packets were sent, without those that were sent before packets that left the window; nil
    /// if there are too few.
    private var sendRate: DataRate? {
        let earliest = latestDropped ?? .min
        var (count, bytes, lastSize) = (0, 0, 0)
        var (first, last) = (Int64.max, Int64.min)
        for packet in window where packet.sent >= earliest {
            count += 1
            bytes += packet.size
            first = min(first, packet.sent)
            if packet.sent > last { (last, lastSize) = (packet.sent, packet.size) }
        }
        guard count >= Self.requiredPackets else { return nil }
        return Self.rate(bytes - lastSize, over: last - first)
    }

    private static func rate(_ byteCount: Int, over nanoseconds: Int64) -> DataRate {
        DataRate(byteCount: byteCount, over: .nanoseconds(max(nanoseconds, shortestTime)))
    }

    /// Removes the packets that arrived first.
    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        for packet in window[..<count] { latestDropped = max(latestDropped ?? packet.sent, packet.sent) }
        window.removeFirst(count)
    }

    /// Inserts a packet in order of arrival, and limits the window to twice its maximum. The position of each packet is
    /// searched for among all, and a feedback with thousands of packets can have any order.
    mutating func insert(_ packet: Packet) {
        if window.count >= 2 * Self.packetLimit { drop(window.count - Self.packetLimit) }
        // The packet is so late that the receiver's clock must have changed: reset.
        if let last = window.last, last.arrival - packet.arrival > Self.reorderingLimit {
            self = RobustThroughputEstimator()
            return
        }
        guard let last = window.last, packet.arrival < last.arrival else { return window.append(packet) }
        let index = window.lastIndex { $0.arrival <= packet.arrival }.map { $0 + 1 } ?? 0
        window.insert(packet, at: index)
    }

    private func isTooMuch(after dropped: Int) -> Bool {
        guard let last = window.last else { return false }
        let count = window.count - dropped
        let span = last.arrival - window[dropped].arrival
        return count > Self.packetLimit || span > Self.largestSpan
            || count > Self.windowPackets && span > Self.minimumSpan
    }
}
