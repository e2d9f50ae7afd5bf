internal import RTCShareMedia
internal import RTCShareWireFormat

extension VP8Encoder {
    /// Whether frames can be sent that are not libvpx's: not if the configuration has none, before libvpx's first frame, if a
    /// key frame is due, or while a blurred key frame becomes sharp.
    var canUpdatePartially: Bool {
        configuration.usesPartialUpdates && !keyFrameIsDue && library.sharpening == nil && model.lastUpdates != nil
    }

    /// Encodes a picture of which little changed; nil where it is for libvpx.
    ///
    /// What changed is coded, as fine as the bitrate allows, with as much of what is coarse as there is room for; where
    /// nothing did, what is coarse, part by part; and where nothing is, a frame that says so.
    func encodePartialUpdate(
        of picture: any PixelPlanes, changed: MacroblockMap, timestamp: Duration, rotation: VideoRotation
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard canUpdatePartially, changed.count <= PartialUpdateCoder.largestUpdate,
            let basis = PartialUpdateCoder.Basis(model, configuration)
        else { return nil }
        let partial = try changeReference { (reference) throws(VideoCodingError) in
            try partialUpdates.code(
                picture, over: reference, changed: changed, quality: quality, basis, ledger: ledger)
        }
        guard let partial else { return nil }
        return makeFrame(partial, timestamp: timestamp, rotation: rotation, isChange: !changed.isEmpty)
    }

    /// The frame of a partial update that was coded.
    func makeFrame(
        _ partial: PartialUpdateCoder.PartialUpdate, timestamp: Duration, rotation: VideoRotation, isChange: Bool = true
    ) -> EncodedVideoFrame {
        quality.didCode(partial.coded, quantizer: partial.quantizer)
        return makeFrame(
            partial.data, quantizer: partial.quantizer, timestamp: timestamp, rotation: rotation, isChange: isChange)
    }

    /// A frame that is not libvpx's.
    func makeFrame(
        _ data: [UInt8], quantizer: Int, timestamp: Duration, rotation: VideoRotation, isChange: Bool = true
    ) -> EncodedVideoFrame {
        spend(data.count, isChange: isChange)
        var frame = EncodedVideoFrame(
            data: data, isKeyFrame: false, size: configuration.size, timestamp: timestamp, rotation: rotation,
            quantizer: quantizer, contentHint: configuration.hint)
        frame.coarsestQuantizer = quality.coarsest
        frame.isPartialUpdate = true
        driftCheck.note(frame)
        return frame
    }
}
