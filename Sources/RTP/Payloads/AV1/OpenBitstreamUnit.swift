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

    /// Reads the unit that begins at `position`; nil at the end of the frame.
    package static func next(in frame: RawSpan, at position: Int) throws(RTPError) -> OpenBitstreamUnit? {
        guard position < frame.byteCount else { return nil }
        let header = frame.unsafeLoad(fromByteOffset: position, as: UInt8.self)
        guard header & 0x80 == 0 else { throw .invalid(.openBitstreamUnit, offset: position) }
        let (hasExtension, hasSize) = (header & 0x04 != 0, header & 0x02 != 0)
        let start = position + (hasExtension ? 2 : 1)
        guard start <= frame.byteCount else { throw .truncated(.openBitstreamUnit, offset: position) }
        var payload = start..<frame.byteCount
        if hasSize {
            let size = try LEB128.read(frame, at: start, .openBitstreamUnit)
            guard size.value <= UInt64(frame.byteCount - size.end) else {
                throw .truncated(.openBitstreamUnit, offset: position)
            }
            payload = size.end..<size.end + Int(size.value)
        }
        return OpenBitstreamUnit(
            kind: Kind(rawValue: header >> 3 & 0x0F), bytes: position..<payload.upperBound, payload: payload)
    }
}

/// A number of up to 56 bits in bytes of seven bits, the lowest first: `leb128()` (AV1 §4.10.5).
enum LEB128 {
    /// Reads the number at `position`, and returns the end of its bytes.
    static func read(
        _ bytes: RawSpan, at position: Int, _ field: RTPField
    ) throws(RTPError) -> (value: UInt64, end: Int) {
        var value: UInt64 = 0
        for index in 0..<8 {
            guard position + index < bytes.byteCount else { throw .truncated(field, offset: position) }
            let byte = bytes.unsafeLoad(fromByteOffset: position + index, as: UInt8.self)
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte & 0x80 == 0 { return (value, position + index + 1) }
        }
        throw .invalid(field, offset: position)
    }
}
