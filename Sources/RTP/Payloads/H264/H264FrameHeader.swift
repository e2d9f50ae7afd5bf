/// The properties of an H.264 frame in its first NAL units, known without decoding it.
package struct H264FrameHeader: Hashable, Sendable {
    /// Whether the frame decodes without other frames: its slices are those of an IDR picture.
    package let isKeyFrame: Bool
    /// Whether it has a sequence and a picture parameter set.
    package let hasParameterSets: Bool
    /// The sequence parameter sets before the first slice.
    package let sequenceParameters: [H264SequenceParameters]

    /// Parses the units of a frame with start codes, up to the first slice.
    package init(parsing frame: RawSpan) throws(RTPError) {
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
        guard sequences.count <= 32 else {
            throw .tooMany(.sequenceParameterSet, limit: 32, offset: sequences[32].bytes.lowerBound)
        }
        var parameters: [H264SequenceParameters] = []
        for unit in sequences { parameters.append(try H264SequenceParameters(frame, unit.bytes)) }
        sequenceParameters = parameters
    }
}
