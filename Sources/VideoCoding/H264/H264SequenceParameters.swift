package import RTCShareMedia

/// The size in a sequence parameter set (H.264 §7.3.2.1.1).
package struct H264SequenceParameters: Hashable, Sendable {
    /// The profile, the constraint flags and the level, as `profile-level-id` has them (RFC 6184 §8.1).
    package let profileLevelID: UInt32
    /// The size of the shown part.
    package let size: PixelSize
    /// The size in whole macroblocks, for which a decoder needs memory.
    package let codedSize: PixelSize

    /// Reads a NAL unit of type 7.
    package init(_ frame: Span<UInt8>, _ unit: Range<Int>) throws(VideoCodingError) {
        var bits = HeaderBits(Self.withoutEmulationPrevention(frame, unit.dropFirst().prefix(1024)))
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
        guard columns <= 4096, units <= 4096 else { throw .corruptedFrame(reason: "a size of \(columns) macroblocks") }
        codedSize = PixelSize(width: columns * 16, height: units * (hasFields ? 32 : 16))
        size = try Self.crop(codedSize, &bits, chromaFormat: chromaFormat, hasFields: hasFields)
    }

    /// Removes the bytes that keep start codes out of the data (H.264 §7.4.1).
    private static func withoutEmulationPrevention(_ frame: Span<UInt8>, _ unit: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for index in unit {
            let byte = frame[index]
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
    ) throws(VideoCodingError) -> UInt32 {
        guard [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) else { return 1 }
        let format = try bits.readExponentialGolomb()
        guard format <= 3 else { throw .corruptedFrame(reason: "a chroma format of \(format)") }
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
    private static func skipScalingList(_ bits: inout HeaderBits, count: Int) throws(VideoCodingError) {
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
    private static func skipNumbering(_ bits: inout HeaderBits) throws(VideoCodingError) {
        _ = try bits.readExponentialGolomb()
        switch try bits.readExponentialGolomb() {
        case 0: _ = try bits.readExponentialGolomb()
        case 1:
            try bits.skip(1)
            _ = try bits.readExponentialGolomb()
            _ = try bits.readExponentialGolomb()
            let count = try bits.readExponentialGolomb()
            guard count < 256 else { throw .corruptedFrame(reason: "a cycle of \(count) reference frames") }
            for _ in 0..<count { _ = try bits.readExponentialGolomb() }
        case 2: break
        case let type: throw .corruptedFrame(reason: "a frame order of type \(type)")
        }
    }

    /// Reads what is cropped (H.264 §7.4.2.1.1).
    private static func crop(
        _ coded: PixelSize, _ bits: inout HeaderBits, chromaFormat: UInt32, hasFields: Bool
    ) throws(VideoCodingError) -> PixelSize {
        guard try bits.readFlag() else { return coded }
        let unit = (
            x: chromaFormat == 1 || chromaFormat == 2 ? 2 : 1, y: (chromaFormat == 1 ? 2 : 1) * (hasFields ? 2 : 1)
        )
        let columns = Int(try bits.readExponentialGolomb()) + Int(try bits.readExponentialGolomb())
        let rows = Int(try bits.readExponentialGolomb()) + Int(try bits.readExponentialGolomb())
        let size = PixelSize(width: coded.width - columns * unit.x, height: coded.height - rows * unit.y)
        guard size.width > 0, size.height > 0 else { throw .corruptedFrame(reason: "nothing of a frame is shown") }
        return size
    }
}
