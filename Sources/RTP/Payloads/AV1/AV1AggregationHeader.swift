/// The aggregation header, the first byte of each payload of AV1 (AV1 RTP §4.4).
struct AV1AggregationHeader: Hashable {
    /// Whether the first OBU element continues an OBU of the packet before (Z).
    var continuesUnit: Bool
    /// Whether the last OBU element is continued in the next packet (Y).
    var isContinued: Bool
    /// The number of OBU elements, 1 to 3, of which the last has no length (W); 0 if each has a length.
    var elementCount: Int
    /// Whether the packet is the first of a coded video sequence (N), which begins with a key frame.
    var startsSequence: Bool

    init(continuesUnit: Bool, isContinued: Bool, elementCount: Int, startsSequence: Bool) {
        self.continuesUnit = continuesUnit
        self.isContinued = isContinued
        self.elementCount = elementCount & 3
        self.startsSequence = startsSequence
    }

    init(parsing payload: RawSpan) throws(RTPError) {
        var reader = FieldReader(payload)
        let byte = try reader.uint8(.aggregationHeader)
        self.init(
            continuesUnit: byte & 0x80 != 0, isContinued: byte & 0x40 != 0, elementCount: Int(byte >> 4 & 3),
            startsSequence: byte & 0x08 != 0)
        guard !(continuesUnit && startsSequence) else { throw .invalid(.aggregationHeader, offset: 0) }
    }

    /// The header as the prefix of a payload.
    var prefix: PayloadPrefix {
        let flags: UInt8 = (continuesUnit ? 0x80 : 0) | (isContinued ? 0x40 : 0) | (startsSequence ? 0x08 : 0)
        return PayloadPrefix([flags | UInt8(truncatingIfNeeded: elementCount << 4)])
    }

    /// Returns the OBU element with an index, after the one that ends at `position`; nil after the last.
    func element(
        _ index: Int, in payload: RawSpan, at position: Int
    ) throws(RTPError) -> (range: Range<Int>, isLast: Bool)? {
        guard index < AV1PayloadFormat.maximumUnitCount else {
            throw .tooMany(.openBitstreamUnit, limit: AV1PayloadFormat.maximumUnitCount, offset: position)
        }
        let end = payload.byteCount
        if elementCount > 0 {
            if index >= elementCount { return nil }
            if index == elementCount - 1 { return (position..<end, true) }
        } else if index > 0, position == end {
            return nil
        }
        let length = try LEB128.read(payload, at: position, .elementLength)
        guard length.value <= UInt64(end - length.end) else { throw .truncated(.elementLength, offset: position) }
        let element = length.end..<length.end + Int(length.value)
        return (element, elementCount == 0 && element.upperBound == end)
    }
}
