internal import Media

extension VP8Encoder {
    /// Encodes that a part of the picture moved, and nothing else; nil where it can't: then the next picture says it all.
    ///
    /// What the viewer sees is what was sent before, with that part moved; what the picture shows beyond is for the
    /// frame that follows, of whose macroblocks only these need to be active. It can't where nothing was sent yet, nor
    /// where a key frame is due, with several temporal layers, while a blurred key frame becomes sharp, or with a scroll
    /// that no vector says.
    func encodeScroll(
        _ scroll: Scroll, timestamp: Duration, rotation: VideoRotation = .upright
    ) throws(VideoCodingError) -> EncodedVideoFrame? {
        guard configuration.temporalLayers == 1, !keyFrameIsDue, sharpening == nil, let lastUpdates,
            scroll.size == configuration.size, scroll.isExpressible
        else { return nil }
        let reference: ReferencePicture
        if let kept = scrolledReference, kept.matches(scroll.size) {
            reference = kept
        } else {
            reference = ReferencePicture(size: scroll.size)
            scrolledReference = reference
        }
        try context.copyLastFrame(to: reference)
        reference.apply(scroll)
        let quantizer = try context.lastQuantizer()
        let data = ScrollFrame.data(scroll, quantizer: quantizer, updates: lastUpdates)
        try context.setLastFrame(to: reference)
        // libvpx learns nothing of this frame: the next one's time is counted from the one before.
        baseLayerIndex &+= 1
        return EncodedVideoFrame(
            data: data, isKeyFrame: false, size: configuration.size, timestamp: timestamp, rotation: rotation,
            temporalLayer: TemporalLayer(baseLayerIndex: baseLayerIndex), quantizer: quantizer,
            contentHint: configuration.hint)
    }
}
