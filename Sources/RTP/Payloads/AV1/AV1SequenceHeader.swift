/// A sequence header of AV1: `sequence_header_obu()` (AV1 §5.5.1).
package struct AV1SequenceHeader: Sendable {
    /// The profile.
    package let profile: UInt8
    /// The level of the whole stream (`seq_level_idx[0]`).
    package let level: UInt8
    /// Whether the level is of the high tier.
    package let isHighTier: Bool
    /// The maximum width of frames, in pixels.
    package let width: Int
    /// The maximum height of frames, in pixels.
    package let height: Int
    /// Whether the only frame has a reduced header.
    let isStillPicture: Bool
    /// Whether there is a model of the decoder, whose times frame headers can have.
    let hasDecoderModel: Bool
    /// The bits after the size.
    let rest: HeaderBits

    /// Reads the header in a unit of a frame.
    package init(_ frame: RawSpan, _ unit: OpenBitstreamUnit) throws(RTPError) {
        var bits = HeaderBits(frame, unit.payload, .sequenceHeader)
        profile = UInt8(try bits.read(3))
        // Whether there is only one frame, with a whole header.
        try bits.skip(1)
        isStillPicture = try bits.readFlag()
        if isStillPicture {
            (level, isHighTier, hasDecoderModel) = (UInt8(try bits.read(5)), false, false)
        } else {
            (level, isHighTier, hasDecoderModel) = try Self.readOperatingPoints(&bits)
        }
        let (widthBits, heightBits) = (Int(try bits.read(4)) + 1, Int(try bits.read(4)) + 1)
        width = Int(try bits.read(widthBits)) + 1
        height = Int(try bits.read(heightBits)) + 1
        rest = bits
    }

    private static func readOperatingPoints(
        _ bits: inout HeaderBits
    ) throws(RTPError) -> (level: UInt8, isHighTier: Bool, hasDecoderModel: Bool) {
        // The number of bits of the delays in a model of the decoder.
        var delayBits: Int?
        if try bits.readFlag() {
            try bits.skip(64)
            if try bits.readFlag() { _ = try bits.readExponentialGolomb() }
            if try bits.readFlag() {
                delayBits = Int(try bits.read(5)) + 1
                try bits.skip(42)
            }
        }
        let hasDisplayDelay = try bits.readFlag()
        var first: (level: UInt8, isHighTier: Bool)?
        for _ in 0...(try bits.read(5)) {
            try bits.skip(12)
            let level = UInt8(try bits.read(5))
            var isHighTier = false
            if level > 7 { isHighTier = try bits.readFlag() }
            first = first ?? (level, isHighTier)
            if let delayBits, try bits.readFlag() { try bits.skip(2 * delayBits + 1) }
            if hasDisplayDelay, try bits.readFlag() { try bits.skip(4) }
        }
        let (level, isHighTier) = first ?? (0, false)
        return (level, isHighTier, delayBits != nil)
    }

    /// Reads the bit depth and the chroma subsampling: `high_bitdepth`, `twelve_bit`, `mono_chrome`, two bits of
    /// subsampling and two of the position of chroma samples, as `av1C` has them.
    package func readSampleFormat() throws(RTPError) -> UInt8 {
        var bits = rest
        _ = try AV1Tools(&bits, isStillPicture: isStillPicture)
        let isDeep = try bits.readFlag()
        var (isDeepest, isMonochrome) = (false, false)
        if profile == 2, isDeep { isDeepest = try bits.readFlag() }
        if profile != 1 { isMonochrome = try bits.readFlag() }
        let depth: UInt8 = (isDeep ? 0x40 : 0) | (isDeepest ? 0x20 : 0)
        var isRGB = false
        if try bits.readFlag() {
            // BT.709's primaries, sRGB and the identity matrix (AV1 §5.5.2).
            isRGB = try bits.read(24) == 0x01_0D_00
        }
        if isMonochrome { return depth | 0x1C }
        if isRGB { return depth }
        // The range.
        try bits.skip(1)
        var (columns, rows) = (profile != 1, profile == 0)
        if isDeepest {
            columns = try bits.readFlag()
            rows = false
            if columns { rows = try bits.readFlag() }
        }
        guard columns else { return depth }
        return depth | 0x08 | (rows ? 0x04 | UInt8(try bits.read(2)) : 0)
    }
}
