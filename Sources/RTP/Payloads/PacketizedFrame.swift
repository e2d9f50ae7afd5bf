package import RTCShareWireFormat

/// An encoded VP8 frame cut into RTP payloads (RFC 7741), shared by every peer connection and by what they keep for
/// retransmission.
///
/// The frame's bytes are held once. A payload is its descriptor and a slice of those bytes, made where it is sent; what
/// differs between peers (source, sequence numbers, timestamp offset) is not here.
package final class PacketizedFrame: Sendable {
    /// The encoded frame.
    package let bytes: [UInt8]
    /// The descriptor of the first payload; the others differ only in that they don't start a partition.
    package let descriptor: VP8PayloadDescriptor
    /// Whether the frame decodes on its own.
    package let isKeyFrame: Bool
    /// When the picture was taken, since the start of the monotonic clock.
    package let captureTime: Duration
    /// Columns of the picture.
    package let width: Int
    /// Rows of the picture.
    package let height: Int
    /// Quarter turns clockwise that make the picture stand upright, 0 to 3.
    package let quarterTurns: Int
    /// Of which encoder it is: pictures are numbered, and build on each other, within one.
    package let stream: Int
    /// How many payloads the frame is cut into, at least one.
    package let fragmentCount: Int

    private let descriptorByteCount: Int
    /// Where the capture is on a clock that read zero at time zero.
    private let timestamp: RTPTimestamp

    /// Bytes of a payload that fit into a packet of 1200 bytes, which every path carries: less the RTP header with all
    /// extensions (36), the prefix of a retransmission (2), the header of RED (1) and the longest tag of SRTP (16). What
    /// corrects such packets fits into the 1232 bytes that IPv6 leaves to UDP on every path (RFC 8200 §5).
    package static let maximumPayloadByteCount = 1200 - 36 - 2 - 1 - 16

    /// Cuts a frame into payloads of nearly equal size, none above `maximumPayloadByteCount`, descriptor included; a
    /// limit too small for the descriptor and one byte is taken as just that.
    ///
    /// Equal pieces keep the last packet of a frame from being tiny, and a pacer's packets alike.
    package init(
        vp8 bytes: [UInt8], descriptor: VP8PayloadDescriptor, isKeyFrame: Bool, captureTime: Duration, width: Int,
        height: Int, quarterTurns: Int = 0, stream: Int = 0, maximumPayloadByteCount: Int
    ) {
        var first = descriptor
        // The encoder makes one partition to send in order: pieces are not aligned to partitions, so PID stays 0.
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

    /// Which of the frame's bytes a payload carries; `index` counts from 0 to ``fragmentCount`` - 1 and is held to that.
    package func fragment(at index: Int) -> Range<Int> {
        let index = min(max(0, index), fragmentCount - 1)
        let (size, larger) = bytes.count.quotientAndRemainder(dividingBy: fragmentCount)
        // The first `larger` pieces have one byte more than the others.
        let start = index * size + min(index, larger)
        return start..<start + size + (index < larger ? 1 : 0)
    }

    /// Bytes of a payload, its descriptor included.
    package func payloadByteCount(at index: Int) -> Int { descriptorByteCount + fragment(at: index).count }

    /// Whether a payload is the frame's last, whose packet carries the marker bit (RFC 7741 §4.1).
    package func isLastFragment(_ index: Int) -> Bool { index >= fragmentCount - 1 }

    /// Writes a payload: its descriptor, with numbers that are moved on by so much, and its piece of the frame.
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

    /// The RTP timestamp of the frame for a peer whose 90 kHz clock read `offset` at time zero (RFC 7741 §4.1).
    package func timestamp(offset: RTPTimestamp) -> RTPTimestamp {
        RTPTimestamp(timestamp.rawValue &+ offset.rawValue)
    }

    /// Ticks a second of VP8's RTP clock.
    package static let clockRate = 90_000
}

/// By how much a peer's PictureID and TL0PICIDX are ahead of those of the stream that it is sent from: they run on where it
/// is sent from another.
package struct VP8NumberOffset: Hashable, Sendable {
    /// Added to the PictureID, modulo its width.
    package var pictureID: UInt16
    /// Added to TL0PICIDX, modulo 256.
    package var temporalLevelZeroIndex: UInt8

    /// The stream's own numbers.
    package static let none = VP8NumberOffset(pictureID: 0, temporalLevelZeroIndex: 0)

    /// So much ahead.
    package init(pictureID: UInt16, temporalLevelZeroIndex: UInt8) {
        self.pictureID = pictureID
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
    }
}

/// The running numbers of one encoded VP8 stream: PictureID and TL0PICIDX (RFC 7741 §4.2).
package struct VP8PictureCounters: Sendable {
    private var pictureID: UInt16
    private var temporalLevelZeroIndex: UInt8

    /// Counters whose first picture has these numbers; both may start anywhere.
    package init(pictureID: UInt16, temporalLevelZeroIndex: UInt8) {
        self.pictureID = pictureID & 0x7FFF
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
    }

    /// Counters that start at random numbers.
    package init(using generator: inout some RandomNumberGenerator) {
        self.init(
            pictureID: .random(in: 0...0x7FFF, using: &generator),
            temporalLevelZeroIndex: .random(in: 0...255, using: &generator))
    }

    /// Returns the descriptor of the next picture's first payload: a 15-bit PictureID, and the base layer with its TL0PICIDX,
    /// since the stream has one temporal layer.
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
