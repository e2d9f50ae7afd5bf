import RTCShareWireFormat

/// The RTP payload format of a video codec: the division of frames into payloads, and their assembly.
///
/// A format is one object, by which it is compared.
package protocol VideoPayloadFormat: AnyObject, Sendable {
    /// The name of the encoding in descriptions (`a=rtpmap`).
    var encodingName: String { get }

    /// Whether packets have the dependency descriptor extension, if the peer accepts it. By default they don't.
    var usesDependencyDescriptor: Bool { get }

    /// Divides an encoded frame into at least one payload, none larger than `limit`. If that is too small for a prefix
    /// and one byte, payloads have this size.
    func cut(_ frame: [UInt8], number: FrameNumber, limit: Int) -> FrameCut

    /// Replaces the frame's number in a prefix, for a peer whose numbers differ from those of the stream. By default a
    /// prefix has no number.
    func setNumber(_ number: FrameNumber, in prefix: inout PayloadPrefix)

    /// Reads a payload: its part in the frames, and the range of its piece of the frame, for ``join(_:)``.
    func read(_ payload: RawSpan) throws(RTPError) -> (content: PacketContent, piece: Range<Int>)

    /// Returns the frame of which all payloads, in order, have these pieces.
    func join(_ pieces: [[UInt8]]) throws(RTPError) -> [UInt8]

    /// Reads the header of an encoded frame.
    func header(of frame: RawSpan) throws(RTPError) -> VideoFrameHeader

    /// Describes a payload in a part of a line, for people who inspect a recording. By default that is its part in the
    /// frames.
    func explain(_ payload: RawSpan) throws(RTPError) -> String
}

extension VideoPayloadFormat {
    package var usesDependencyDescriptor: Bool { false }

    package func setNumber(_ number: FrameNumber, in prefix: inout PayloadPrefix) {}

    package func explain(_ payload: RawSpan) throws(RTPError) -> String {
        let content = try read(payload).content
        return content.startsKeyFrame ? "key frame" : content.startsFrame ? "frame" : "fragment"
    }
}

/// An encoded frame that is divided into payloads.
package struct FrameCut: Sendable {
    /// A payload: a piece of the data after a prefix.
    struct Piece: Sendable {
        let prefix: PayloadPrefix
        /// The start and the end in the data.
        let start: UInt32
        let end: UInt32

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    /// The bytes of which payloads have pieces: those of the frame, or others that the format requires.
    let data: [UInt8]
    private(set) var pieces: [Piece] = []

    package init(_ data: [UInt8]) {
        self.data = data
    }

    /// Appends payloads of nearly equal size with the bytes of a range, and at least one.
    ///
    /// Pieces of equal size prevent a tiny last packet of a frame, and give the pacer equal packets.
    /// - Parameters:
    ///   - room: The maximum number of bytes in a piece.
    ///   - prefix: Returns the prefix of each payload, from its index and the number of payloads.
    package mutating func append(
        _ range: Range<Int>, room: Int, prefix: (_ index: Int, _ count: Int) -> PayloadPrefix
    ) {
        let room = max(1, room)
        let count = max(1, (range.count + room - 1) / room)
        let (size, larger) = range.count.quotientAndRemainder(dividingBy: count)
        pieces.reserveCapacity(pieces.count + count)
        var start = range.lowerBound
        for index in 0..<count {
            // The first `larger` pieces are one byte longer than the others.
            let end = start + size + (index < larger ? 1 : 0)
            pieces.append(
                Piece(prefix: prefix(index, count), start: UInt32(clamping: start), end: UInt32(clamping: end)))
            start = end
        }
    }
}

/// The bytes of a payload before its piece of a frame, at most eight.
///
/// They are stored without an allocation, since a frame has one for each of its packets.
package struct PayloadPrefix: Hashable, Sendable {
    /// The bytes, the first in the highest bits, followed by zeros.
    private var bits: UInt64 = 0
    private var length: UInt8 = 0

    /// Creates a prefix of the first eight bytes.
    package init(_ bytes: some Sequence<UInt8>) {
        for byte in bytes.prefix(8) {
            bits |= UInt64(byte) << (56 - 8 * UInt64(length))
            length += 1
        }
    }

    /// The number of bytes.
    package var byteCount: Int { Int(length) }

    /// The byte at an index from 0 to 7.
    package subscript(index: Int) -> UInt8 {
        get { UInt8(truncatingIfNeeded: bits >> Self.shift(index)) }
        set { bits = bits & ~(0xFF << Self.shift(index)) | UInt64(newValue) << Self.shift(index) }
    }

    private static func shift(_ index: Int) -> UInt64 { 56 - 8 * UInt64(truncatingIfNeeded: index & 7) }

    /// Writes the bytes.
    func write(to writer: inout ByteWriter) throws(EndOfBytes) {
        for index in 0..<byteCount { try writer.write(self[index]) }
    }
}
