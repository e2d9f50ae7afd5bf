internal import Media

extension VP8Encoder {
    /// The quantizer indices of patches: what rests becomes readable, then fine, then as fine as is of use; what changes is
    /// that at once.
    static let patchQuantizers = [60, 24, 8].map { Quantizer(index: $0) }
    /// What changed beyond this is for libvpx to code: it finds what moved.
    static let largestPatch = 400
    /// What a patch may take, in time at the bitrate: what takes more is for libvpx to code, more coarsely.
    static let longestPatch = Duration.milliseconds(50)

    /// Encodes a picture of which little changed; nil where it is for libvpx.
    ///
    /// What changed is coded, with as much of what is coarse as there is room for; where nothing did, what is coarse, part
    /// by part; and where nothing is, a frame that says so.
    func encodePatch(
        of picture: any VideoFrameBuffer, changed: MacroblockMap, timestamp: Duration, rotation: VideoRotation
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard configuration.temporalLayers == 1, !keyFrameIsDue, sharpening == nil, let lastUpdates,
            changed.count <= Self.largestPatch
        else { return nil }
        let finest = Self.patchQuantizers[Self.patchQuantizers.count - 1]
        let pass = Self.patchQuantizers.first { changed.isEmpty && quality.coarsest > $0.index } ?? finest
        let bytes = Int(Double(configuration.bitsPerSecond) / 8 * (Self.longestPatch / .seconds(1)))
        let order = PatchWriter.Order(
            changed: changed, coarse: quality.coarser(than: pass.index), quantizer: pass, room: bytes,
            limit: bytes * 3 / 2)
        let patch = try changeReference { (reference) throws(VideoCodingError) in
            try patchWriter.write(
                order, of: picture, over: reference, probabilities: probabilities, updates: lastUpdates)
        }
        guard let patch else { return nil }
        quality.didCode(patch.coded, quantizer: pass.index)
        return makeFrame(patch.data, quantizer: pass.index, timestamp: timestamp, rotation: rotation)
    }

    /// A frame that is not libvpx's, which learns nothing of it: the time of its next one is counted from the one before.
    func makeFrame(
        _ data: [UInt8], quantizer: Int, timestamp: Duration, rotation: VideoRotation
    ) -> EncodedVideoFrame {
        baseLayerIndex &+= 1
        var frame = EncodedVideoFrame(
            data: data, isKeyFrame: false, size: configuration.size, timestamp: timestamp, rotation: rotation,
            temporalLayer: TemporalLayer(baseLayerIndex: baseLayerIndex), quantizer: quantizer,
            contentHint: configuration.hint)
        frame.coarsestQuantizer = quality.coarsest
        return frame
    }
}
