package import RTCShareMedia
package import RTCShareRTP

/// An encoded frame, with the properties that the payload format and the statistics need.
package struct EncodedVideoFrame: Sendable {
    /// The bitstream of one frame.
    package let data: [UInt8]
    /// The payload format of its codec.
    package let format: any VideoPayloadFormat
    /// Whether the frame is a key frame, which decodes without other frames.
    package let isKeyFrame: Bool
    /// The encoded size in pixels, before rotation.
    package let size: PixelSize
    /// The capture time: the source frame's timestamp, or a later one for a repeated frame.
    package let timestamp: Duration
    /// The clockwise rotation that the viewer must apply.
    package let rotation: VideoRotation
    /// The quantizer index in the frame's header on the codec's scale, which `qpSum` of webrtc-stats adds up.
    package let quantizer: Int
    /// The ``Coarseness`` of the frame, 0 (finest) to 127, which all codecs share.
    package let coarseness: Int
    /// The ``Coarseness`` that text has at the quantizer, if the frame's own one can be finer; nil for the same.
    var quantizerCoarseness: Int?
    /// The hint for the content. The content type `screenshare` is signaled for text and detail.
    package let contentHint: ContentHint
    /// The ``Coarseness`` of the coarsest part of the resulting image; by default the frame's own.
    var coarsest: Int
    /// Whether the frame is our own instead of a library's: it codes changes and leaves everything else unchanged.
    var isPartialUpdate = false
    /// Whether further frames make unchanged content finer; nil if that depends on ``coarsest``.
    var canBeFiner: Bool?
    /// Whether that is so however long the bitrate takes for it.
    var becomesFinest = false
    /// Whether vectors express what moved, so that the frame's size is that of new content.
    package var isScroll = false
    /// Whether parts of the image are still blurred or coarse, and another encoding will sharpen them.
    package var isUnfinished = false

    /// Creates a frame from an encoder or a test. By default its coarseness is its quantizer index.
    package init(
        data: [UInt8], format: any VideoPayloadFormat, isKeyFrame: Bool, size: PixelSize, timestamp: Duration,
        rotation: VideoRotation = .upright, quantizer: Int = 0, coarseness: Int? = nil,
        contentHint: ContentHint = .detail
    ) {
        self.data = data
        self.format = format
        self.isKeyFrame = isKeyFrame
        self.size = size
        self.timestamp = timestamp
        self.rotation = rotation
        self.quantizer = quantizer
        self.coarseness = coarseness ?? quantizer
        coarsest = self.coarseness
        self.contentHint = contentHint
    }
}
