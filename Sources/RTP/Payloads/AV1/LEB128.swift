/// A number of up to 56 bits in bytes of seven bits, the lowest first: `leb128()` (AV1 §4.10.5).
package enum LEB128 {
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

    /// Returns the number of bytes of a number.
    static func byteCount(of value: Int) -> Int { bytes(of: value).count }

    /// Returns the shortest bytes of a number that is not negative.
    static func bytes(of value: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    /// Appends the shortest bytes of a number that is not negative.
    package static func append(_ value: Int, to bytes: inout [UInt8]) {
        var rest = UInt64(max(0, value))
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
