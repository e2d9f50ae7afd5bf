/// The properties of an AV1 frame in its first headers, known without decoding it.
package struct AV1FrameHeader: Hashable, Sendable {
    /// Whether decoding can begin with the frame: it has a sequence header and a shown key frame.
    package let isKeyFrame: Bool
    /// The maximum width of frames in the sequence header, in pixels; zero without one.
    package let width: Int
    /// The maximum height of frames in the sequence header, in pixels; zero without one.
    package let height: Int

    /// Parses the headers of a frame up to those of its first picture.
    package init(parsing frame: RawSpan) throws(RTPError) {
        var sequence: SequenceHeader?
        var position = 0
        var startsSequence = false
        while let unit = try OpenBitstreamUnit.next(in: frame, at: position) {
            position = unit.bytes.upperBound
            if unit.kind == .sequenceHeader {
                sequence = try SequenceHeader(HeaderBits(frame, unit.payload, .sequenceHeader))
            } else if unit.kind == .frame || unit.kind == .frameHeader {
                startsSequence = try Self.isShownKeyFrame(
                    HeaderBits(frame, unit.payload, .av1FrameHeader), in: sequence)
                break
            }
        }
        isKeyFrame = sequence != nil && startsSequence
        width = sequence?.width ?? 0
        height = sequence?.height ?? 0
    }

    /// Reads the beginning of `uncompressed_header()` (AV1 §5.9.2).
    private static func isShownKeyFrame(
        _ bits: consuming HeaderBits, in sequence: SequenceHeader?
    ) throws(RTPError) -> Bool {
        if sequence?.isStillPicture == true { return true }
        var bits = bits
        // A frame that was decoded earlier and is only shown now.
        if try bits.readFlag() { return false }
        let isKey = try bits.read(2) == 0
        let isShown = try bits.readFlag()
        return isKey && isShown
    }
}

/// The beginning of `sequence_header_obu()` (AV1 §5.5.1).
private struct SequenceHeader {
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
