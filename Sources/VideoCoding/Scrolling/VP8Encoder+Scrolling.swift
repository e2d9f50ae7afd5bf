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
        let quantizer = try context.lastQuantizer()
        let data = ScrollFrame.data(scroll, quantizer: quantizer, updates: lastUpdates)
        try changeReference { $0.apply(scroll) as Void? }
        return makeFrame(data, quantizer: quantizer, timestamp: timestamp, rotation: rotation)
    }
}
