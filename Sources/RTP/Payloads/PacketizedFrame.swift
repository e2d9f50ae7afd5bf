package import RTCShareWireFormat

/// An encoded VP8 frame that is split into RTP payloads (RFC 7741). All peer connections and their retransmission
/// buffers share it.
///
/// The frame's bytes are stored once. A payload, written when it is sent, is the descriptor and a slice of those bytes.
/// Values that differ between peers (source, sequence numbers, timestamp offset) are not in it.
package final class PacketizedFrame: Sendable {
    /// The encoded frame.
    package let bytes: [UInt8]
    /// The descriptor of the first payload. The others differ only in that they don't start a partition.
    package let descriptor: VP8PayloadDescriptor
    /// Whether the frame is a key frame, which decodes without other frames.
    package let isKeyFrame: Bool
    /// The capture time of the frame, since the start of the monotonic clock.
    package let captureTime: Duration
    /// The width of the frame in pixels.
    package let width: Int
    /// The height of the frame in pixels.
    package let height: Int
    /// The number of quarter turns clockwise, 0 to 3, after which the frame is upright.
    package let quarterTurns: Int
    /// The encoder's stream. Picture IDs, and references between frames, are within one stream.
    package let stream: Int
    /// The number of payloads of the frame, at least one.
    package let fragmentCount: Int

    private let descriptorByteCount: Int
    /// The capture time on a media clock that is at zero at time zero.
    private let timestamp: RTPTimestamp

    /// The maximum payload of a packet of 1200 bytes, which every path carries: without the RTP header with all
    /// extensions (36), the prefix of a retransmission (2), the header of RED (1) and the longest SRTP tag (16).
    /// Corrections of such packets fit into the 1232 bytes that IPv6 leaves for UDP on every path (RFC 8200 §5).
    package static let maximumPayloadByteCount = 1200 - 36 - 2 - 1 - 16

    /// Splits a frame into payloads of nearly equal size, none larger than `maximumPayloadByteCount`, including the
    /// descriptor. If the limit is smaller than the descriptor and one byte, that size is used.
    ///
    /// Pieces of equal size prevent a tiny last packet of a frame, and give the pacer equal packets.
    package init(
        vp8 bytes: [UInt8], descriptor: VP8PayloadDescriptor, isKeyFrame: Bool, captureTime: Duration, width: Int,
        height: Int, quarterTurns: Int = 0, stream: Int = 0, maximumPayloadByteCount: Int
    ) {
        var first = descriptor
        // The encoder makes one partition and pieces are not aligned to partitions, so that PID stays 0.
        first.startsPartition = true
        first.partitionIndex = 0
        self.bytes = bytes
        self.descriptor = first
        self.isKeyFrame = isKeyFrame
        self.captureTime = captureTime
        self.width = width
        self.height = height
        self.quarterTurns = quarterTurns & 3
        self.stream = stream
        descriptorByteCount = first.byteCount
        timestamp = RTPTimestamp(mediaTime: captureTime, clockRate: Self.clockRate, offset: RTPTimestamp(0))
        let room = max(1, maximumPayloadByteCount - descriptorByteCount)
        fragmentCount = max(1, (bytes.count + room - 1) / room)
    }

    /// Returns the range of the frame's bytes in a payload. `index` is limited to the range from 0 to ``fragmentCount``
    /// - 1.
    package func fragment(at index: Int) -> Range<Int> {
        let index = min(max(0, index), fragmentCount - 1)
        let (size, larger) = bytes.count.quotientAndRemainder(dividingBy: fragmentCount)
        // The first `larger` pieces are one byte longer than the others.
        let start = index * size + min(index, larger)
        return start..<start + size + (index < larger ? 1 : 0)
    }

    /// Returns the number of bytes in a payload, including its descriptor.
    package func payloadByteCount(at index: Int) -> Int { descriptorByteCount + fragment(at: index).count }

    /// Whether a payload is the frame's last. Its packet has the marker bit (RFC 7741 §4.1).
    package func isLastFragment(_ index: Int) -> Bool { index >= fragmentCount - 1 }

    /// Writes a payload: its descriptor, whose numbers are increased by `numberOffset`, and its piece of the frame.
    package func writePayload(
        at index: Int, numberOffset: VP8NumberOffset = .none, to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        var descriptor = descriptor
        descriptor.add(numberOffset)
        descriptor.startsPartition = index <= 0
        try descriptor.write(to: &writer)
        let bytes = bytes
        let piece = bytes.span.extracting(fragment(at: index))
        try writer.write(piece.bytes)
    }

    /// Returns the RTP timestamp of the frame for a peer whose 90 kHz clock is at `offset` at time zero (RFC 7741
    /// §4.1).
    package func timestamp(offset: RTPTimestamp) -> RTPTimestamp {
        RTPTimestamp(timestamp.rawValue &+ offset.rawValue)
    }

    /// The rate of VP8's RTP clock in ticks per second.
    package static let clockRate = 90_000
}

/// The difference between a peer's PictureID and TL0PICIDX and those of the source stream. It keeps a peer's numbers
/// continuous when the peer switches to another stream.
package struct VP8NumberOffset: Hashable, Sendable {
    /// The number to add to the PictureID, modulo its width.
    package var pictureID: UInt16
    /// The number to add to TL0PICIDX, modulo 256.
    package var temporalLevelZeroIndex: UInt8

    /// No difference.
    package static let none = VP8NumberOffset(pictureID: 0, temporalLevelZeroIndex: 0)

    package init(pictureID: UInt16, temporalLevelZeroIndex: UInt8) {
        self.pictureID = pictureID
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
    }
}

/// Counters of PictureID and TL0PICIDX in one encoded VP8 stream (RFC 7741 §4.2).
package struct VP8PictureCounters: Sendable {
    private var pictureID: UInt16
    private var temporalLevelZeroIndex: UInt8

    /// Creates counters that start at these numbers.
    package init(pictureID: UInt16, temporalLevelZeroIndex: UInt8) {
        self.pictureID = pictureID & 0x7FFF
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
    }

    /// Creates counters that start at random numbers.
    package init(using generator: inout some RandomNumberGenerator) {
        self.init(
            pictureID: .random(in: 0...0x7FFF, using: &generator),
            temporalLevelZeroIndex: .random(in: 0...255, using: &generator))
    }

    /// Returns the descriptor of the next frame's first payload: a 15-bit PictureID, and the base layer with its
    /// TL0PICIDX, since the stream has one temporal layer.
    package mutating func next() -> VP8PayloadDescriptor {
        defer {
            pictureID = (pictureID &+ 1) & 0x7FFF
            temporalLevelZeroIndex &+= 1
        }
        return VP8PayloadDescriptor(
            startsPartition: true, pictureID: .long(pictureID), temporalLevelZeroIndex: temporalLevelZeroIndex,
            temporalLayer: .base)
    }
}
