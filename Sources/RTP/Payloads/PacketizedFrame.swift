package import RTCShareWireFormat

/// An encoded frame that is split into RTP payloads. All peer connections and their retransmission buffers share it.
///
/// The frame's bytes are stored once. A payload, written when it is sent, is a prefix and a slice of those bytes. Values
/// that differ between peers (source, sequence numbers, timestamp offset) are not in it.
package final class PacketizedFrame: Sendable {
    /// The encoded frame.
    package let bytes: [UInt8]
    /// The payload format, which is that of the codec.
    package let format: any VideoPayloadFormat
    /// The number of the frame in its stream.
    package let number: FrameNumber
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
    /// The encoder's stream. Numbers of frames, and references between frames, are within one stream.
    package let stream: Int

    private let cut: FrameCut
    private let hasDependencyDescriptor: Bool
    /// The capture time on a media clock that is at zero at time zero.
    private let timestamp: RTPTimestamp

    /// The maximum payload of a packet of 1200 bytes, which every path carries: without the RTP header with all
    /// extensions of a single stream (36), the prefix of a retransmission (2), the header of RED (1) and the longest SRTP tag (16).
    /// Corrections of such packets fit into the 1232 bytes that IPv6 leaves for UDP on every path (RFC 8200 §5).
    package static let maximumPayloadByteCount = 1200 - 36 - 2 - 1 - 16

    /// Splits a frame into payloads, none larger than `maximumPayloadByteCount`; nil for what every path carries.
    package init(
        _ bytes: [UInt8], format: any VideoPayloadFormat, number: FrameNumber, isKeyFrame: Bool, captureTime: Duration,
        width: Int, height: Int, quarterTurns: Int = 0, stream: Int = 0,
        maximumPayloadByteCount: Int? = nil
    ) {
        self.bytes = bytes
        self.format = format
        self.number = number
        self.isKeyFrame = isKeyFrame
        self.captureTime = captureTime
        self.width = width
        self.height = height
        self.quarterTurns = quarterTurns & 3
        self.stream = stream
        hasDependencyDescriptor = format.usesDependencyDescriptor
        // In a key frame's first packet the descriptor lengthens the other extensions by twelve bytes.
        let limit = Self.maximumPayloadByteCount - (hasDependencyDescriptor ? 12 : 0)
        cut = format.cut(bytes, number: number, limit: maximumPayloadByteCount ?? limit)
        timestamp = RTPTimestamp(mediaTime: captureTime, clockRate: Self.clockRate, offset: RTPTimestamp(0))
    }

    /// The number of payloads of the frame, at least one.
    package var fragmentCount: Int { cut.pieces.count }

    /// Returns a payload. `index` is limited to the range from 0 to ``fragmentCount`` - 1.
    private func piece(at index: Int) -> FrameCut.Piece {
        cut.pieces[min(max(0, index), fragmentCount - 1)]
    }

    /// Returns the number of bytes in a payload, including its prefix.
    package func payloadByteCount(at index: Int) -> Int {
        let piece = piece(at: index)
        return piece.prefix.byteCount + piece.range.count
    }

    /// Whether a payload is the frame's last. Its packet has the marker bit.
    package func isLastFragment(_ index: Int) -> Bool { index == fragmentCount - 1 }

    /// Writes a payload: its prefix and its piece of the frame. A peer can know the frame under another number than its
    /// stream.
    package func writePayload(
        at index: Int, number: FrameNumber? = nil, to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        let piece = piece(at: index)
        var prefix = piece.prefix
        if let number, number != self.number { format.setNumber(number, in: &prefix) }
        try prefix.write(to: &writer)
        let data = cut.data
        let bytes = data.span.extracting(piece.range)
        try writer.write(bytes.bytes)
    }

    /// Returns the dependency descriptor of a payload's packet for a peer that knows the frame under a number; nil if
    /// the format has none.
    package func dependencyDescriptor(at index: Int, number: FrameNumber) -> DependencyDescriptor? {
        guard hasDependencyDescriptor else { return nil }
        let startsFrame = index <= 0
        return DependencyDescriptor(
            startsFrame: startsFrame, endsFrame: isLastFragment(index),
            template: isKeyFrame ? DependencyDescriptor.keyFrameTemplate : DependencyDescriptor.deltaFrameTemplate,
            number: number,
            structure: isKeyFrame && startsFrame ? .init(width: width, height: height) : nil)
    }

    /// Returns the RTP timestamp of the frame for a peer whose 90 kHz clock is at `offset` at time zero.
    package func timestamp(offset: RTPTimestamp) -> RTPTimestamp {
        RTPTimestamp(timestamp.rawValue &+ offset.rawValue)
    }

    /// The rate of the RTP clock of video, which all its payload formats share, in ticks per second.
    package static let clockRate = 90_000
}
