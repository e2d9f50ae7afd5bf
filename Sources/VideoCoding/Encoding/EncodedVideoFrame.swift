package import RTCShareMedia

/// A picture as the encoder gave it, with what the payload format and the statistics need to know of it.
package struct EncodedVideoFrame: Sendable {
    /// The bitstream: one VP8 frame (RFC 6386 §9).
    package let data: [UInt8]
    /// Whether it can be decoded without any frame before it.
    package let isKeyFrame: Bool
    /// Columns and rows as encoded, before rotation.
    package let size: PixelSize
    /// When the picture was taken: the source frame's timestamp, later for a picture that is sent again.
    package let timestamp: Duration
    /// How far the viewer must turn it clockwise.
    package let rotation: VideoRotation
    /// The quantizer index of the frame's header, 0 (finest) to 127: what webrtc-stats sums up as `qpSum` for VP8.
    package let quantizer: Int
    /// What the pictures are: content type `screenshare` is signalled for text and detail.
    package let contentHint: ContentHint
    /// The quantizer index of what is coarsest in the picture that it makes, 0 to 127; where nobody said, its own.
    var coarsestQuantizer: Int
    /// Whether it is not libvpx's: it says what changed and leaves all else as it was.
    var isPartialUpdate = false
    /// Whether what moved is said by vectors, so that it is what came into sight that the frame's size is of.
    var isScroll = false
    /// Whether parts of the picture are blurred or coarse still, and encoding it again makes them sharper.
    package var isUnfinished = false

    /// A frame as an encoder, or a test, describes it.
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
