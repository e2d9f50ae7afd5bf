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
    /// Where it stands in the temporal layers.
    package let temporalLayer: TemporalLayer
    /// Whether a later frame may build on it. One that is not a reference can be dropped with no harm to others.
    package let isReference: Bool
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
        temporalLayer: TemporalLayer = TemporalLayer(), isReference: Bool = true, quantizer: Int = 0,
        contentHint: ContentHint = .detail
    ) {
        self.data = data
        self.isKeyFrame = isKeyFrame
        self.size = size
        self.timestamp = timestamp
        self.rotation = rotation
        self.temporalLayer = temporalLayer
        self.isReference = isReference
        self.quantizer = quantizer
        coarsestQuantizer = quantizer
        self.contentHint = contentHint
    }
}

/// A frame's place in the temporal layers, as RFC 7741 §4.2 has it in the payload descriptor.
package struct TemporalLayer: Sendable, Hashable {
    /// TID: 0 is the base layer, without which nothing else can be decoded.
    package let id: Int
    /// Y: the frame builds on the base layer only, so that a receiver can begin with this layer here.
    package let isSync: Bool
    /// TL0PICIDX: counts the frames of the base layer, this one included where it is one; wraps.
    package let baseLayerIndex: UInt8
    /// How many layers the encoder makes.
    package let count: Int

    /// A place; by default the only layer's first frame.
    package init(id: Int = 0, isSync: Bool = false, baseLayerIndex: UInt8 = 0, count: Int = 1) {
        self.id = id
        self.isSync = isSync
        self.baseLayerIndex = baseLayerIndex
        self.count = count
    }

    /// Whether this frame is the one that moved `baseLayerIndex` on.
    package var incrementsBaseLayerIndex: Bool { id == 0 }
}
