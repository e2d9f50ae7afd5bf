/// An open bitstream unit, of which AV1's frames consist (AV1 §5.3).
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
    package static func next(
        in frame: Span<UInt8>, at position: Int
    ) throws(VideoCodingError) -> OpenBitstreamUnit? {
        guard position < frame.count else { return nil }
        let header = frame[position]
        guard header & 0x80 == 0 else { throw .corruptedFrame(reason: "an OBU's forbidden bit is set") }
        let (hasExtension, hasSize) = (header & 0x04 != 0, header & 0x02 != 0)
        let start = position + (hasExtension ? 2 : 1)
        guard start <= frame.count else { throw .corruptedFrame(reason: "an OBU's header is truncated") }
        let payload = hasSize ? try sizedPayload(in: frame, at: start) : start..<frame.count
        return OpenBitstreamUnit(
            kind: Kind(rawValue: header >> 3 & 0x0F), bytes: position..<payload.upperBound, payload: payload)
    }

    /// Reads the size, `leb128()` (AV1 §4.10.5), and returns the bytes after it.
    private static func sizedPayload(
        in frame: Span<UInt8>, at position: Int
    ) throws(VideoCodingError) -> Range<Int> {
        var count: UInt64 = 0
        for index in 0..<8 {
            guard position + index < frame.count else { break }
            let byte = frame[position + index]
            count |= UInt64(byte & 0x7F) << UInt64(7 * index)
            guard byte & 0x80 == 0 else { continue }
            let start = position + index + 1
            guard count <= UInt64(frame.count - start) else {
                throw .corruptedFrame(reason: "an OBU is longer than its frame")
            }
            return start..<start + Int(count)
        }
        throw .corruptedFrame(reason: "an OBU's size has no end")
    }
}
