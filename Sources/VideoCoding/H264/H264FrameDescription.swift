/// The properties of an H.264 frame that its headers show without decoding.
package struct H264FrameDescription: Hashable, Sendable {
    /// Whether the frame decodes without other frames: its slices are those of an IDR picture.
    package let isKeyFrame: Bool
    /// Whether it has a sequence and a picture parameter set.
    package let hasParameterSets: Bool
    /// The sequence parameter sets before the first slice.
    package let sequenceParameters: [H264SequenceParameters]

    /// Reads the headers of a frame with start codes, up to the first slice.
    package init(_ frame: Span<UInt8>) throws(VideoCodingError) {
        var slice: AnnexB.Unit?
        var sequences: [AnnexB.Unit] = []
        var hasPictureParameters = false
        try AnnexB.forEachUnit(of: frame) { unit in
            switch unit.type {
            case AnnexB.Unit.sequenceParameters: sequences.append(unit)
            case AnnexB.Unit.pictureParameters: hasPictureParameters = true
            case AnnexB.Unit.slices: slice = unit
            default: break
            }
            return slice == nil
        }
        isKeyFrame = slice?.type == AnnexB.Unit.idrSlice
        hasParameterSets = !sequences.isEmpty && hasPictureParameters
        // There are at most 32 (H.264 §7.4.2.1.1).
        var parameters: [H264SequenceParameters] = []
        for unit in sequences.prefix(32) { parameters.append(try H264SequenceParameters(frame, unit.bytes)) }
        sequenceParameters = parameters
        guard sequences.count <= 32 else { throw .corruptedFrame(reason: "it has \(sequences.count) parameter sets") }
    }
}
