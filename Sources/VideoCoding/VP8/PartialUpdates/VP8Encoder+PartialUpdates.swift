internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

extension VP8Encoder {
    /// Whether our own frames can be sent: not if the configuration disables them, before libvpx's first frame, if a
    /// key frame is due, or while a blurred key frame is being sharpened.
    var canUpdatePartially: Bool {
        configuration.usesPartialUpdates && !keyFrameIsDue && library.sharpening == nil && model.lastUpdates != nil
    }

    /// Encodes a frame with few changes; nil if libvpx must encode it.
    ///
    /// Changes are coded as fine as the bitrate allows, with as many coarse parts as there is room for. Without
    /// changes, coarse parts are coded one after the other. If everything is fine, the frame is empty.
    func encodePartialUpdate(
        of picture: any PixelPlanes, changed: MacroblockMap, timestamp: Duration, rotation: VideoRotation
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard canUpdatePartially, changed.count <= PartialUpdateCoder.largestUpdate,
            let basis = PartialUpdateCoder.Basis(model, configuration)
        else { return nil }
        let partial = try changeReference { (reference) throws(VideoCodingError) in
            try partialUpdates.code(
                picture, over: reference, changed: changed, quality: quality, basis, ledger: ledger,
                timestamp: timestamp)
        }
        guard let partial else { return nil }
        return makeFrame(partial, timestamp: timestamp, rotation: rotation, isChange: !changed.isEmpty)
    }

    /// Returns the frame of a coded partial update.
    func makeFrame(
        _ partial: PartialUpdateCoder.PartialUpdate, timestamp: Duration, rotation: VideoRotation, isChange: Bool = true
    ) -> EncodedVideoFrame {
        quality.didCode(partial.coded, coarseness: partial.quantizer)
        return makeFrame(
            partial.data, quantizer: partial.quantizer, timestamp: timestamp, rotation: rotation, isChange: isChange)
    }

    /// Returns an own frame.
    func makeFrame(
        _ data: [UInt8], quantizer: Int, timestamp: Duration, rotation: VideoRotation, isChange: Bool = true
    ) -> EncodedVideoFrame {
        spend(data.count, isChange: isChange)
        if isChange { partialUpdates.contentDidChange(timestamp: timestamp) }
        var frame = EncodedVideoFrame(
            data: data, format: .vp8, isKeyFrame: false, size: configuration.size, timestamp: timestamp,
            rotation: rotation,
            quantizer: quantizer, contentHint: configuration.hint)
        frame.coarsest = quality.coarsest
        frame.isPartialUpdate = true
        frame.canBeFiner = partialUpdates.canRefine(quality, timestamp: timestamp)
        frame.becomesFinest = true
        driftCheck.note(frame)
        return frame
    }
}
