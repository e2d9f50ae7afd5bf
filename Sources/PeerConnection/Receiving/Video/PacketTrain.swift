package import RTCShareWireFormat

/// The first packets of a large frame, whose arrival shows the bandwidth of the path. Senders send so many at once; later
/// packets arrive at the rate of the sender's pacing.
///
/// Many paths carry two packets at once after a pause, so the time of the packets after these counts.
package struct PacketTrain: Sendable, Hashable {
    /// The number of packets at the start that don't count.
    private static let skipped = 2
    /// The least and the largest number of packets of a train.
    private static let lengths = 4...6

    private var count = 0
    private var begin: Instant?
    private var end: Instant?
    private var bytes = 0

    /// Creates a train without packets.
    package init() {}

    /// The size of the packets that count; nil if the frame has too few packets, or if they arrived in another order.
    package var byteCount: Int? { duration == nil ? nil : bytes }

    /// The time in which they arrived.
    package var duration: Duration? {
        guard count >= Self.lengths.lowerBound, let begin, let end else { return nil }
        return end - begin
    }

    /// Adds the next packet of the frame.
    package mutating func add(byteCount: Int, arrival: Instant) {
        defer { count += 1 }
        guard count < Self.lengths.upperBound else { return }
        if let end, arrival < end { return begin = nil }
        if count < Self.skipped { begin = arrival } else { bytes += byteCount }
        end = arrival
    }
}
