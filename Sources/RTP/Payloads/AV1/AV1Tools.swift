/// The tools of a sequence (AV1 §5.5.1), on which the syntax of its frames depends.
package struct AV1Tools: Hashable, Sendable {
    /// Whether frames have identifiers.
    package private(set) var hasFrameIdentifiers = false
    /// Whether superblocks have 128 pixels per side, not 64.
    package private(set) var hasLargeSuperblocks = false
    /// Whether blocks can be predicted from their neighbors by filters.
    package private(set) var hasIntraFilter = false
    /// Whether blocks can be predicted from both their own frame and another.
    package private(set) var hasInterIntra = false
    /// Whether frames have order hints.
    package private(set) var hasOrderHints = false
    /// Whether tools for screens are in use; nil if each frame chooses.
    package private(set) var screenContent: Bool?
    /// Whether vectors are of whole pixels; nil if each frame with tools for screens chooses.
    package private(set) var integerVectors: Bool?
    /// Whether frames can be coded at a smaller width.
    package private(set) var hasSuperResolution = false
    /// Whether there is the constrained directional enhancement filter.
    package private(set) var hasDirectionalFilter = false
    /// Whether there is the loop restoration filter.
    package private(set) var hasRestoration = false

    /// Reads the part of a sequence header between the size and `color_config()`.
    init(_ bits: inout HeaderBits, isStillPicture: Bool) throws(RTPError) {
        if !isStillPicture { hasFrameIdentifiers = try bits.readFlag() }
        if hasFrameIdentifiers { try bits.skip(7) }
        hasLargeSuperblocks = try bits.readFlag()
        hasIntraFilter = try bits.readFlag()
        // Filters of edges, before directional prediction.
        try bits.skip(1)
        if !isStillPicture {
            hasInterIntra = try bits.readFlag()
            // Masks, warped motion, and filters that differ by direction.
            try bits.skip(3)
            hasOrderHints = try bits.readFlag()
            if hasOrderHints { try bits.skip(2) }
            if try !bits.readFlag() { screenContent = try bits.readFlag() }
            if screenContent != false, try !bits.readFlag() { integerVectors = try bits.readFlag() }
            if hasOrderHints { try bits.skip(3) }
        }
        hasSuperResolution = try bits.readFlag()
        hasDirectionalFilter = try bits.readFlag()
        hasRestoration = try bits.readFlag()
    }
}

extension AV1SequenceHeader {
    /// Reads the tools, and what else of the header the syntax of frames depends on; nil if frames are not of 8-bit
    /// I420, or if they have film grain, the times of a decoder model or a reduced header.
    package func readTools() throws(RTPError) -> AV1Tools? {
        guard !isStillPicture, !hasDecoderModel, profile == 0, try readSampleFormat() & 0xFC == 0x0C else { return nil }
        var bits = rest
        let tools = try AV1Tools(&bits, isStillPicture: false)
        // Bit depth and monochrome, which are known.
        try bits.skip(2)
        if try bits.readFlag() { try bits.skip(24) }
        // The range, the position of chroma samples, and quantizers for each chroma plane.
        try bits.skip(3)
        let hasSeparateQuantizers = try bits.readFlag()
        let hasFilmGrain = try bits.readFlag()
        return hasSeparateQuantizers || hasFilmGrain ? nil : tools
    }
}
