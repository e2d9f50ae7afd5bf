internal import RTCShareRTP

extension RecordedCodec {
    /// AV1 ("AV1 Codec Mapping in Matroska/WebM").
    ///
    /// Key frames keep their sequence headers, because a video can return to an earlier size.
    static let av1 = RecordedCodec(id: "V_AV1", isInWebM: true, privateData: av1Configuration, block: temporalUnit)

    /// Returns `av1C`: four bytes of the sequence header's values, and the sequence header.
    private static func av1Configuration(_ keyFrame: [UInt8]) throws(RTPError) -> [UInt8] {
        for unit in try units(of: keyFrame) where unit.kind == .sequenceHeader {
            let header = try AV1SequenceHeader(keyFrame.span.bytes, unit)
            let sampleFormat = try header.readSampleFormat()
            // A marker with version 1 first. Last that the initial delay is unknown.
            return [
                0x81, header.profile << 5 | header.level, (header.isHighTier ? 0x80 : 0) | sampleFormat, 0,
            ] + sized(unit, of: keyFrame)
        }
        throw .truncated(.sequenceHeader, offset: keyFrame.count)
    }

    /// Returns the units of a frame with their sizes, without those that only separate or pad.
    private static func temporalUnit(_ frame: [UInt8]) throws(RTPError) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(frame.count + 8)
        for unit in try units(of: frame) where unit.kind != .temporalDelimiter && unit.kind != .padding {
            block += sized(unit, of: frame)
        }
        return block
    }

    private static func units(of frame: [UInt8]) throws(RTPError) -> [OpenBitstreamUnit] {
        var units: [OpenBitstreamUnit] = []
        while let unit = try OpenBitstreamUnit.next(in: frame.span.bytes, at: units.last?.bytes.upperBound ?? 0) {
            units.append(unit)
        }
        return units
    }

    /// Returns a unit with its size, which RTP omits (AV1 §5.3.2, §4.10.5).
    private static func sized(_ unit: OpenBitstreamUnit, of frame: [UInt8]) -> [UInt8] {
        let header = frame[unit.bytes.lowerBound]
        var bytes = [header | 0x02]
        if header & 0x04 != 0 { bytes.append(frame[unit.bytes.lowerBound + 1]) }
        var rest = unit.payload.count
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        return bytes + frame[unit.payload]
    }
}
