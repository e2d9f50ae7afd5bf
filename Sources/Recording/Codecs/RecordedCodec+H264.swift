internal import RTCShareRTP

extension RecordedCodec {
    /// H.264 in the form of ISO/IEC 14496-15: NAL units after their lengths.
    ///
    /// Key frames keep their parameter sets, because their size can change.
    static let h264 = RecordedCodec(
        id: "V_MPEG4/ISO/AVC", isInWebM: false, privateData: avcConfiguration, block: unitsWithLengths)

    /// Returns `avcC` with the parameter sets of a key frame (ISO/IEC 14496-15 §5.3.3.1).
    private static func avcConfiguration(_ keyFrame: [UInt8]) throws(RTPError) -> [UInt8] {
        let units = try AnnexB.units(of: keyFrame.span.bytes)
        let sequences = units.filter { $0.type == AnnexB.Unit.sequenceParameters }.map(\.bytes)
        let pictures = units.filter { $0.type == AnnexB.Unit.pictureParameters }.map(\.bytes)
        guard let first = sequences.first, first.count >= 4, !pictures.isEmpty, sequences.count <= 31,
            pictures.count <= 255, (sequences + pictures).allSatisfy({ $0.count <= UInt16.max })
        else { throw .invalid(.sequenceParameterSet, offset: 0) }
        // The version, profile, constraints and level, and that lengths have four bytes.
        var bytes = [1] + keyFrame[first.dropFirst().prefix(3)] + [0xFF, 0xE0 | UInt8(sequences.count)]
        for set in sequences { bytes += EBML.fixed(UInt64(set.count), byteCount: 2) + keyFrame[set] }
        bytes.append(UInt8(pictures.count))
        for set in pictures { bytes += EBML.fixed(UInt64(set.count), byteCount: 2) + keyFrame[set] }
        // The high profile has 4:2:0 with 8 bits, which must be specified.
        if bytes[1] == 100 { bytes += [0xFD, 0xF8, 0xF8, 0] }
        return bytes
    }

    private static func unitsWithLengths(_ frame: [UInt8]) throws(RTPError) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(frame.count + 16)
        for unit in try AnnexB.units(of: frame.span.bytes) {
            block += EBML.fixed(UInt64(unit.bytes.count), byteCount: 4)
            block += frame[unit.bytes]
        }
        return block
    }
}
