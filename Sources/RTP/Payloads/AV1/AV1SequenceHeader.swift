/// The beginning of `sequence_header_obu()` (AV1 §5.5.1).
struct AV1SequenceHeader {
    /// Whether the only frame has a reduced header.
    let isStillPicture: Bool
    let width: Int
    let height: Int

    init(_ bits: consuming HeaderBits) throws(RTPError) {
        var bits = bits
        // The profile, and whether there is only one frame.
        try bits.skip(4)
        isStillPicture = try bits.readFlag()
        if isStillPicture {
            try bits.skip(5)
        } else {
            try Self.skipOperatingPoints(&bits)
        }
        let (widthBits, heightBits) = (Int(try bits.read(4)) + 1, Int(try bits.read(4)) + 1)
        width = Int(try bits.read(widthBits)) + 1
        height = Int(try bits.read(heightBits)) + 1
    }

    private static func skipOperatingPoints(_ bits: inout HeaderBits) throws(RTPError) {
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
        for _ in 0...(try bits.read(5)) {
            try bits.skip(12)
            // The tier.
            if try bits.read(5) > 7 { try bits.skip(1) }
            if let delayBits, try bits.readFlag() { try bits.skip(2 * delayBits + 1) }
            if hasDisplayDelay, try bits.readFlag() { try bits.skip(4) }
        }
    }
}
