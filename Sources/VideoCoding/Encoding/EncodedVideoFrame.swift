package import RTCShareMedia

/// An encoded frame, with the properties that the payload format and the statistics need.
package struct EncodedVideoFrame: Sendable {
    /// The bitstream: one VP8 frame (RFC 6386 §9).
    package let data: [UInt8]
    /// Whether the frame is a key frame, which decodes without other frames.
    package let isKeyFrame: Bool
    /// The encoded size in pixels, before rotation.
    package let size: PixelSize
    /// The capture time: the source frame's timestamp, or a later one for a repeated frame.
    package let timestamp: Duration
    /// The clockwise rotation that the viewer must apply.
    package let rotation: VideoRotation
    /// The quantizer index in the frame's header, 0 (finest) to 127, which `qpSum` of webrtc-stats adds up for VP8.
    package let quantizer: Int
    /// The hint for the content. The content type `screenshare` is signaled for text and detail.
    package let contentHint: ContentHint
    /// The quantizer index of the coarsest part of the resulting image, 0 to 127; by default the frame's own.
    var coarsestQuantizer: Int
    /// Whether the frame is our own instead of libvpx's: it codes changes and leaves everything else unchanged.
    var isPartialUpdate = false
    /// Whether vectors express what moved, so that the frame's size is that of new content.
    var isScroll = false
    /// Whether parts of the image are still blurred or coarse, and another encoding will sharpen them.
    package var isUnfinished = false

    /// Creates a frame from an encoder or a test.
    package init(
        data: [UInt8], isKeyFrame: Bool, size: PixelSize, timestamp: Duration, rotation: VideoRotation = .upright,
        quantizer: Int = 0, contentHint: ContentHint = .detail
    ) {
        self.data = data
        self.isKeyFrame = isKeyFrame
        self.size = size
        self.timestamp = timestamp
        self.rotation = rotation
        self.quantizer = quantizer
        coarsestQuantizer = quantizer
        self.contentHint = contentHint
    }
}
