internal import RTCShareCVPX

/// Which frame belongs to which temporal layer, and what each may build on and replace.
///
/// One layer: every frame builds on the last. Two: 0 1. Three: 0 2 1 2, where layer 1 lives in the golden frame, so
/// that the second frame of layer 2 builds on both. A key frame begins the pattern anew.
struct TemporalPattern {
    struct Step {
        let layer: Int
        /// Builds on nothing but the base layer.
        let isSync: Bool
        /// Is built on by later frames.
        let isReference: Bool
        /// libvpx's encode flags.
        let flags: Int
    }

    /// What a frame of a layer may take beside the mean of all frames.
    func weight(ofLayer layer: Int) -> Double {
        let share = cumulativeShares[layer] - (layer > 0 ? cumulativeShares[layer - 1] : 0)
        let frames = steps.count { $0.layer == layer }
        return Double(share) / 100 * Double(steps.count) / Double(frames)
    }

    let layerCount: Int
    let steps: [Step]
    /// Of the whole bitrate, the share of a layer and those below it, in percent.
    let cumulativeShares: [Int]
    /// A layer's frames, together with those below it, are one in this many.
    let decimators: [Int]
    private var position = 0

    init(layerCount: Int) {
        self.layerCount = layerCount
        // The alternate reference is left alone throughout: only a key frame writes it.
        let alone = Int(VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_ARF)
        let onlyLast = alone | Int(VP8_EFLAG_NO_REF_GF)
        let keepLast = Int(VP8_EFLAG_NO_UPD_LAST)
        let keepGolden = Int(VP8_EFLAG_NO_UPD_GF)
        // A frame that may be dropped must leave the probabilities alone, or what follows can't be parsed without it.
        let keepEntropy = Int(VP8_EFLAG_NO_UPD_ENTROPY)
        let base = Step(layer: 0, isSync: false, isReference: true, flags: onlyLast | keepGolden)
        switch layerCount {
        case 2:
            steps = [
                base,
                Step(
                    layer: 1, isSync: true, isReference: false, flags: onlyLast | keepLast | keepGolden | keepEntropy),
            ]
            cumulativeShares = [60, 100]
            decimators = [2, 1]
        case 3:
            steps = [
                base,
                Step(
                    layer: 2, isSync: true, isReference: false, flags: onlyLast | keepLast | keepGolden | keepEntropy),
                Step(layer: 1, isSync: true, isReference: true, flags: onlyLast | keepLast | keepEntropy),
                Step(layer: 2, isSync: false, isReference: false, flags: alone | keepLast | keepGolden | keepEntropy),
            ]
            cumulativeShares = [40, 60, 100]
            decimators = [4, 2, 1]
        default:
            // Golden and alternate reference are libvpx's to choose.
            steps = [Step(layer: 0, isSync: false, isReference: true, flags: 0)]
            cumulativeShares = [100]
            decimators = [1]
        }
    }

    /// What the next frame is; a key frame takes the base layer's place.
    mutating func next(isKeyFrame: Bool) -> Step {
        if isKeyFrame { position = 0 }
        let step = steps[position]
        guard isKeyFrame else { return step }
        return Step(layer: 0, isSync: layerCount > 1, isReference: true, flags: Int(VPX_EFLAG_FORCE_KF))
    }

    /// Moves on, once the frame was not dropped.
    mutating func advance() {
        position = (position + 1) % steps.count
    }
}
