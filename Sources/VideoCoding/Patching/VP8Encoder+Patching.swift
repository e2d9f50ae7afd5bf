internal import Media

extension VP8Encoder {
    /// The quantizer indices of patches: what rests becomes readable, then fine, then as fine as is of use; what changes is
    /// that at once.
    static let patchQuantizers = [Quantizer(index: 60), Quantizer(index: 24), finestPatch]
    private static let finestPatch = Quantizer(index: 8)
    /// What is new after a scroll may be as coarse as this, or have only the lowest coefficients at the other.
    private static let coarsestPatch = 127
    private static let blurredPatch = Quantizer(index: 110)
    /// What changed beyond this is for libvpx to code: it finds what moved.
    static let largestPatch = 400
    /// The same after a scroll, which libvpx would not find.
    static let largestScrolledPatch = 6000
    /// However low the bitrate is: a letter.
    static let smallestShare = 600
    /// What a patch may take, in time at the bitrate: what takes more is for libvpx to code, more coarsely.
    static let longestPatch = Duration.milliseconds(50)

    /// A frame of our own, and which macroblocks are as fine as its quantizer index says by it.
    struct Patch {
        let data: [UInt8]
        let coded: MacroblockMap
        let quantizer: Int
    }

    /// Whether frames can be sent that are not libvpx's: not where nobody wants them, before its first, nor where a key frame
    /// is due, with several temporal layers, or while a blurred key frame becomes sharp.
    var canPatch: Bool {
        configuration.usesPartialUpdates && configuration.temporalLayers == 1 && !keyFrameIsDue && sharpening == nil
            && model.lastUpdates != nil
    }

    /// Encodes a picture of which little changed; nil where it is for libvpx.
    ///
    /// What changed is coded, as fine as the bitrate allows, with as much of what is coarse as there is room for; where
    /// nothing did, what is coarse, part by part; and where nothing is, a frame that says so.
    func encodePatch(
        of picture: any PixelPlanes, changed: MacroblockMap, timestamp: Duration, rotation: VideoRotation
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard canPatch, model.probabilities != nil, changed.count <= Self.largestPatch else { return nil }
        let patch = try changeReference { (reference) throws(VideoCodingError) in
            try writePatch(of: picture, over: reference, changed: changed)
        }
        guard let patch else { return nil }
        quality.didCode(patch.coded, quantizer: patch.quantizer)
        patchRate.spend(
            byteCount: patch.data.count, bytesPerSecond: Double(configuration.bitsPerSecond) / 8, timestamp: timestamp)
        return makeFrame(
            patch.data, quantizer: patch.quantizer, timestamp: timestamp, rotation: rotation,
            isChange: !changed.isEmpty)
    }

    /// The finest patch that the bitrate allows; nil where it is too large at the coarsest, with the reference as it was.
    func writePatch(
        of picture: any PixelPlanes, over reference: ReferencePicture, changed: MacroblockMap
    ) throws(VideoCodingError) -> Patch? {
        guard let updates = model.lastUpdates, let probabilities = model.probabilities else { return nil }
        let bytesPerSecond = Double(configuration.bitsPerSecond) / 8
        let share = max(Int(bytesPerSecond / configuration.framesPerSecond), Self.smallestShare)
        let most = Int(bytesPerSecond * (Self.longestPatch / .seconds(1)))
        // What rests is made readable before it is made finer; what changed is coded fine or by libvpx, which finds better
        // ways to be coarse.
        let quantizers = Self.patchQuantizers
        let resting = quantizers.firstIndex { quality.coarsest > $0.index } ?? quantizers.count - 1
        for index in (changed.isEmpty ? resting..<resting + 1 : 1..<quantizers.count).reversed() {
            let quantizer = quantizers[index]
            let order = PatchWriter.Order(
                scroll: nil, changed: changed, coarse: quality.coarser(than: quantizer.index),
                quantizer: quantizer, detail: 16, room: changed.isEmpty ? most : share,
                limit: changed.isEmpty ? most * 2 : share * 3 / 2)
            let patch = try patchWriter.write(
                order, of: picture, over: reference, probabilities: probabilities, updates: updates)
            if let patch { return Patch(data: patch.data, coded: patch.coded, quantizer: quantizer.index) }
        }
        return nil
    }

    /// The patch that has what is new after a scroll, as fine as its share of the bitrate allows. What would take far more
    /// than was foreseen is written once more.
    func writePatch(
        of picture: any PixelPlanes, over reference: ReferencePicture, after scroll: Scroll,
        changed: MacroblockMap, timestamp: Duration
    ) throws(VideoCodingError) -> Patch? {
        guard let updates = model.lastUpdates, let probabilities = model.probabilities else { return nil }
        let bytesPerSecond = Double(configuration.bitsPerSecond) / 8
        let novelty = try patchWriter.novelty(of: changed, in: picture, over: reference).sum
        let allowance = patchRate.allowance(novelty: novelty, bytesPerSecond: bytesPerSecond, timestamp: timestamp)
        // As coarse as need be, and blurred where that is not enough: what comes late has moved farther, and costs more.
        let indices = Self.finestPatch.index...Self.coarsestPatch
        let coarsest = patchRate.byteCount(novelty: novelty, quantizer: Quantizer(index: Self.coarsestPatch))
        var detail = coarsest <= allowance * 3 / 2 ? 16 : coarsest <= allowance * 4 ? 3 : 1
        for limit in [max(allowance, Self.smallestShare) * 2, Int.max / 8] {
            let quantizer =
                detail == 16
                ? patchRate.quantizer(novelty: novelty, byteCount: allowance, within: indices) : Self.blurredPatch
            // What is left over is for what is coarse.
            let isFine = patchRate.byteCount(novelty: novelty, quantizer: quantizer) < allowance / 2
            let order = PatchWriter.Order(
                scroll: scroll, changed: changed,
                coarse: isFine ? quality.coarser(than: quantizer.index) : MacroblockMap(size: picture.size),
                quantizer: quantizer, detail: detail, room: allowance * 3 / 4, limit: limit)
            let patch = try patchWriter.write(
                order, of: picture, over: reference, probabilities: probabilities, updates: updates)
            guard let patch else {
                if detail == 16 { patchRate.took(byteCount: limit * 2, novelty: novelty, quantizer: quantizer) }
                detail = detail == 16 ? 3 : 1
                continue
            }
            if !isFine, detail == 16 {
                patchRate.took(byteCount: patch.data.count, novelty: novelty, quantizer: quantizer)
            }
            return Patch(data: patch.data, coded: patch.coded, quantizer: quantizer.index)
        }
        return nil
    }

    /// A frame that is not libvpx's, which learns nothing of it: the time of its next one is counted from the one before.
    func makeFrame(
        _ data: [UInt8], quantizer: Int, timestamp: Duration, rotation: VideoRotation, isChange: Bool = true
    ) -> EncodedVideoFrame {
        baseLayerIndex &+= 1
        if isChange { control.spend(data.count * 8) }
        var frame = EncodedVideoFrame(
            data: data, isKeyFrame: false, size: configuration.size, timestamp: timestamp, rotation: rotation,
            temporalLayer: TemporalLayer(baseLayerIndex: baseLayerIndex), quantizer: quantizer,
            contentHint: configuration.hint)
        frame.coarsestQuantizer = quality.coarsest
        frame.isPartialUpdate = true
        driftCheck.note(frame)
        return frame
    }
}
