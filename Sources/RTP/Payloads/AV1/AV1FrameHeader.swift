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
        var sequence: AV1SequenceHeader?
        var position = 0
        var startsSequence = false
        while let unit = try OpenBitstreamUnit.next(in: frame, at: position) {
            position = unit.bytes.upperBound
            if unit.kind == .sequenceHeader {
                sequence = try AV1SequenceHeader(frame, unit)
            } else if unit.kind == .frame || unit.kind == .frameHeader {
                startsSequence = try Self.isShownKeyFrame(
                    HeaderBits(frame, unit.payload, .frameHeader), in: sequence)
                break
            }
        }
        isKeyFrame = sequence != nil && startsSequence
        width = sequence?.width ?? 0
        height = sequence?.height ?? 0
    }

    /// Reads the beginning of `uncompressed_header()` (AV1 §5.9.2).
    private static func isShownKeyFrame(
        _ bits: consuming HeaderBits, in sequence: AV1SequenceHeader?
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
