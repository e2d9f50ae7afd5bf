internal import Media

extension VP8Encoder {
    /// The quantizer index of a patch: as fine as is of use.
    static let patchQuantizer = Quantizer(index: 8)
    /// What a patch may take, in time at the bitrate: what takes more is for libvpx to code, more coarsely.
    static let longestPatch = Duration.milliseconds(50)

    /// Encodes a picture of which little is to be coded, as fine as need be; nil where it is for libvpx.
    ///
    /// Where little changed, that is coded, with as much of what is coarse as there is room for; where nothing did, what
    /// is coarse, part by part; and where nothing is, a frame that says so.
    func encodePatch(
        of picture: any VideoFrameBuffer, changed: MacroblockMap, timestamp: Duration, rotation: VideoRotation
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard configuration.temporalLayers == 1, !keyFrameIsDue, sharpening == nil, let lastUpdates,
            changed.count <= PatchWriter.mostMacroblocks
        else { return nil }
        let limit = Int(Double(configuration.bitsPerSecond) / 8 * (Self.longestPatch / .seconds(1)))
        let room = min(Int(Double(limit) / 2 / patchBytes), PatchWriter.mostMacroblocks - changed.count)
        let map = quality.withCoarse(changed, atMost: max(room, changed.isEmpty ? 1 : 0))
        let data = try changeReference { (reference) throws(VideoCodingError) in
            try patchWriter.write(
                picture, over: reference, in: map, quantizer: Self.patchQuantizer, probabilities: probabilities,
                updates: lastUpdates, limit: limit)
        }
        guard let data else {
            // Of what is coarse, less is tried the next time.
            patchBytes *= 2
            return nil
        }
        let seen = Double(data.count) / Double(max(map.count, 1))
        patchBytes = min(max((patchBytes * 3 + seen) / 4, 4), 1000)
        quality.didCode(map, quantizer: Self.patchQuantizer.index)
        return makeFrame(data, quantizer: Self.patchQuantizer.index, timestamp: timestamp, rotation: rotation)
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
