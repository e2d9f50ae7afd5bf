/// The size in a sequence parameter set (H.264 §7.3.2.1.1).
package struct H264SequenceParameters: Hashable, Sendable {
    /// The profile, the constraint flags and the level, as `profile-level-id` has them (RFC 6184 §8.1).
    package let profileLevelID: UInt32
    /// The width and height of the shown part, in pixels.
    package let (width, height): (Int, Int)
    /// The width and height in whole macroblocks, for which a decoder needs memory.
    package let (codedWidth, codedHeight): (Int, Int)

    /// Reads a NAL unit of type 7.
    package init(_ frame: RawSpan, _ unit: Range<Int>) throws(RTPError) {
        var bits = HeaderBits(
            Self.withoutEmulationPrevention(frame, unit.dropFirst().prefix(1024)), .sequenceParameterSet,
            base: unit.lowerBound + 1)
        profileLevelID = try bits.read(24)
        _ = try bits.readExponentialGolomb()
        let chromaFormat = try Self.readChromaFormat(&bits, profile: profileLevelID >> 16)
        try Self.skipNumbering(&bits)
        // The number of reference frames, and whether numbers may be left out.
        _ = try bits.readExponentialGolomb()
        try bits.skip(1)
        let columns = Int(try bits.readExponentialGolomb()) + 1
        let units = Int(try bits.readExponentialGolomb()) + 1
        let hasFields = try !bits.readFlag()
        if hasFields { try bits.skip(1) }
        try bits.skip(1)
        // More than any level has (Table A-1), so that nothing below overflows.
        guard columns <= 4096, units <= 4096 else { throw bits.invalid }
        (codedWidth, codedHeight) = (columns * 16, units * (hasFields ? 32 : 16))
        let cropped = try Self.readCropping(&bits, chromaFormat: chromaFormat, hasFields: hasFields)
        (width, height) = (codedWidth - cropped.columns, codedHeight - cropped.rows)
        guard width > 0, height > 0 else { throw bits.invalid }
    }

    /// Removes the bytes that keep start codes out of the data (H.264 §7.4.1).
    private static func withoutEmulationPrevention(_ frame: RawSpan, _ unit: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for index in unit {
            let byte = frame.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            guard zeros < 2 || byte != 3 else {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }

    /// Reads what high profiles have, and returns `chroma_format_idc`.
    private static func readChromaFormat(
        _ bits: inout HeaderBits, profile: UInt32
    ) throws(RTPError) -> UInt32 {
        guard [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) else { return 1 }
        let format = try bits.readExponentialGolomb()
        guard format <= 3 else { throw bits.invalid }
        if format == 3 { try bits.skip(1) }
        // Bit depths, and whether lossless macroblocks skip a transform.
        _ = try bits.readExponentialGolomb()
        _ = try bits.readExponentialGolomb()
        try bits.skip(1)
        guard try bits.readFlag() else { return format }
        for list in 0..<(format == 3 ? 12 : 8) where try bits.readFlag() {
            try skipScalingList(&bits, count: list < 6 ? 16 : 64)
        }
        return format
    }

    /// Skips a `scaling_list()` (H.264 §7.3.2.1.1.1).
    private static func skipScalingList(_ bits: inout HeaderBits, count: Int) throws(RTPError) {
        var (last, next): (Int64, Int64) = (8, 8)
        for _ in 0..<count {
            if next != 0 {
                let code = Int64(try bits.readExponentialGolomb())
                let delta = code & 1 == 1 ? (code + 1) / 2 : -code / 2
                next = (last + delta) & 0xFF
            }
            if next != 0 { last = next }
        }
    }

    /// Skips how frames are numbered and ordered.
    private static func skipNumbering(_ bits: inout HeaderBits) throws(RTPError) {
        _ = try bits.readExponentialGolomb()
        switch try bits.readExponentialGolomb() {
        case 0: _ = try bits.readExponentialGolomb()
        case 1:
            try bits.skip(1)
            _ = try bits.readExponentialGolomb()
            _ = try bits.readExponentialGolomb()
            let count = try bits.readExponentialGolomb()
            guard count < 256 else { throw bits.invalid }
            for _ in 0..<count { _ = try bits.readExponentialGolomb() }
        case 2: break
        default: throw bits.invalid
        }
    }

    /// Reads the numbers of pixels that are cropped (H.264 §7.4.2.1.1).
    private static func readCropping(
        _ bits: inout HeaderBits, chromaFormat: UInt32, hasFields: Bool
    ) throws(RTPError) -> (columns: Int, rows: Int) {
        guard try bits.readFlag() else { return (0, 0) }
        let unit = (
            x: chromaFormat == 1 || chromaFormat == 2 ? 2 : 1, y: (chromaFormat == 1 ? 2 : 1) * (hasFields ? 2 : 1)
        )
        let columns = Int(try bits.readExponentialGolomb()) + Int(try bits.readExponentialGolomb())
        let rows = Int(try bits.readExponentialGolomb()) + Int(try bits.readExponentialGolomb())
        return (columns * unit.x, rows * unit.y)
    }
}
