package import RTCShareRTP
package import RTCShareWireFormat

/// The first packets of large frames, whose arrival shows the bandwidth of the path. Senders send so many at once; later
/// packets arrive at the rate of the sender's pacing.
///
/// Many paths carry two packets at once after a pause, so the time of the packets after these counts. A frame need not be
/// complete: one that is too large for the path never is. After a missing packet or padding, the rest of a frame does
/// not count.
package struct PacketTrains: Sendable {
    /// The size of the packets that count.
    package private(set) var byteCount = 0
    /// The time in which they arrived.
    package private(set) var duration = Duration.zero
    private var newest: Packet?

    private struct Packet {
        var number: SequenceNumber
        var timestamp: RTPTimestamp
        /// The position in the frame; nil if a packet before it is missing.
        var position: Int?
        var byteCount: Int
        var arrival: Instant
        /// The time since the packet before it.
        var gap: Duration
    }

    /// The positions of the packets that count, which are at least two of a frame.
    private static let counted = 2..<6

    /// Creates a measurement without packets.
    package init() {}

    /// Adds a packet of the stream; one without content is padding. A repeated packet does not count.
    package mutating func add(
        _ number: SequenceNumber, timestamp: RTPTimestamp, byteCount: Int, isRepeated: Bool = false, arrival: Instant
    ) {
        var packet = Packet(number: number, timestamp: timestamp, byteCount: byteCount, arrival: arrival, gap: .zero)
        defer { newest = packet }
        guard let former = newest else { return }
        let distance = number.distance(from: former.number)
        guard distance == 1 else {
            if distance <= 0 { packet = former }
            return
        }
        guard byteCount > 0, !isRepeated else { return }
        packet.gap = arrival - former.arrival
        packet.position = timestamp == former.timestamp ? former.position.map { $0 + 1 } : 0
        // The first one that counts does so only with the next one.
        guard let position = packet.position, position > Self.counted.lowerBound, Self.counted.contains(position)
        else { return }
        if position == Self.counted.lowerBound + 1 { add(former) }
        add(packet)
    }

    /// Begins another sequence of numbers.
    package mutating func restart() { newest = nil }

    private mutating func add(_ packet: Packet) {
        byteCount += packet.byteCount
        duration += packet.gap
    }
}
