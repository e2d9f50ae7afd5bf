/// An open bitstream unit (OBU), of which AV1's frames consist (AV1 §5.3).
package struct OpenBitstreamUnit: Hashable, Sendable {
    /// The types that are told apart (AV1 §6.2.2).
    package enum Kind: UInt8, Sendable {
        case sequenceHeader = 1
        case temporalDelimiter = 2
        case frameHeader = 3
        case tileGroup = 4
        case metadata = 5
        case frame = 6
        case redundantFrameHeader = 7
        case tileList = 8
        case padding = 15
    }

    /// The type; nil for a reserved one, which decoders ignore.
    package let kind: Kind?
    /// The bytes of the whole unit in its frame.
    package let bytes: Range<Int>
    /// The bytes after the header and the size.
    package let payload: Range<Int>

    /// The flag of a size after the header, in the header's first byte.
    static let sizeFlag: UInt8 = 0x02

    /// Returns the number of bytes of a header without the size, from its first byte.
    static func headerByteCount(_ first: UInt8) -> Int { first & 0x04 == 0 ? 1 : 2 }

    /// Returns the type of the unit whose header begins at an offset; nil for a reserved one.
    static func kind(of bytes: RawSpan, at offset: Int) -> Kind? {
        Kind(rawValue: bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) >> 3 & 0x0F)
    }

    /// Reads the unit that begins at `position`; nil at the end of the frame.
    package static func next(in frame: RawSpan, at position: Int) throws(RTPError) -> OpenBitstreamUnit? {
        guard position < frame.byteCount else { return nil }
        let header = frame.unsafeLoad(fromByteOffset: position, as: UInt8.self)
        guard header & 0x80 == 0 else { throw .invalid(.openBitstreamUnit, offset: position) }
        let start = position + headerByteCount(header)
        guard start <= frame.byteCount else { throw .truncated(.openBitstreamUnit, offset: position) }
        var payload = start..<frame.byteCount
        if header & sizeFlag != 0 {
            let size = try LEB128.read(frame, at: start, .openBitstreamUnit)
            guard size.value <= UInt64(frame.byteCount - size.end) else {
                throw .truncated(.openBitstreamUnit, offset: position)
            }
            payload = size.end..<size.end + Int(size.value)
        }
        return OpenBitstreamUnit(
            kind: kind(of: frame, at: position), bytes: position..<payload.upperBound, payload: payload)
    }
}
