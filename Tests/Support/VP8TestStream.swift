internal import RTCShareNetworkSimulation
public import RTCShareRTP
internal import RTCShareWireFormat

extension VP8PayloadDescriptor {
    /// The bytes on the wire.
    package var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var span = bytes.mutableSpan
        var writer = ByteWriter(span.mutableBytes)
        try? write(to: &writer)
        return bytes
    }
}

/// A VP8 stream whose frames can't be decoded, but have packets according to RFC 7741.
public struct VP8TestStream: Sendable {
    /// The parts of one packet.
    public struct Packet: Hashable, Sendable {
        /// The packet's sequence number.
        public var number: SequenceNumber
        /// The frame's timestamp.
        public var timestamp: RTPTimestamp
        /// Whether it ends the frame.
        public var marker: Bool
        /// The payload descriptor.
        package var descriptor: VP8PayloadDescriptor
        /// The packet's part of the frame.
        public var payload: [UInt8]
    }

    /// The sequence number of the next packet.
    public var nextNumber: SequenceNumber
    private var timestamp: RTPTimestamp
    private var pictureID: PictureNumber
    private var temporalLevelZeroIndex: UInt8
    private var generator: SeededGenerator

    /// Creates a stream that begins at `first`, with all counters near their wraps.
    public init(first: SequenceNumber = SequenceNumber(65_500), seed: UInt64) {
        nextNumber = first
        timestamp = RTPTimestamp(.max - 5000)
        pictureID = .long(0x7FFA)
        temporalLevelZeroIndex = 250
        generator = SeededGenerator(seed: seed)
    }

    /// Returns the next frame as `packetCount` packets, each with `size` bytes after the descriptor.
    package mutating func frame(
        isKeyFrame: Bool, packetCount: Int, size: Int = 50, layer: TemporalLayer? = nil, isNonReference: Bool = false
    ) -> [Packet] {
        timestamp = timestamp.advanced(by: 3000)
        pictureID = .long((pictureID.value &+ 1) & 0x7FFF)
        if (layer?.index ?? 0) == 0 { temporalLevelZeroIndex &+= 1 }
        return (0..<packetCount).map { index in
            defer { nextNumber = nextNumber.next }
            var payload = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if index == 0 {
                // RFC 6386 §9.1: the tag, and for a key frame the start code and a size of 1280×720.
                let start: [UInt8] =
                    isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02] : [0x11, 0, 0]
                payload.replaceSubrange(0..<start.count, with: start)
            }
            let descriptor = VP8PayloadDescriptor(
                startsPartition: index == 0, isNonReference: isNonReference, pictureID: pictureID,
                temporalLevelZeroIndex: layer == nil ? nil : temporalLevelZeroIndex, temporalLayer: layer)
            return Packet(
                number: nextNumber, timestamp: timestamp, marker: index == packetCount - 1, descriptor: descriptor,
                payload: payload)
        }
    }
}
