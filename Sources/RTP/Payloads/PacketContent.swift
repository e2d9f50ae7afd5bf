/// A packet's part in the frames of its stream, which its payload format tells without the other packets.
package struct PacketContent: Sendable {
    /// The payload format.
    package var format: any VideoPayloadFormat
    /// Whether the payload begins a frame.
    package var startsFrame: Bool
    /// Whether the payload begins a key frame.
    package var startsKeyFrame: Bool
    /// The number of the frame; nil if the sender does not number frames.
    package var pictureID: PictureNumber?
    /// The number of the base-layer frame that this frame is, or depends on; nil if the sender does not tell.
    package var temporalLevelZeroIndex: UInt8?
    /// The temporal layer; nil if there are none.
    package var temporalLayer: TemporalLayer?
    /// Whether no other frame refers to this one, so that it can be dropped without effect on others.
    package var isNonReference: Bool

    package init(
        format: any VideoPayloadFormat, startsFrame: Bool, startsKeyFrame: Bool, pictureID: PictureNumber? = nil,
        temporalLevelZeroIndex: UInt8? = nil, temporalLayer: TemporalLayer? = nil, isNonReference: Bool = false
    ) {
        self.format = format
        self.startsFrame = startsFrame
        self.startsKeyFrame = startsKeyFrame
        self.pictureID = pictureID
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
        self.temporalLayer = temporalLayer
        self.isNonReference = isNonReference
    }

    /// Adds what the packet's dependency descriptor tells. Without it, a packet in the middle of a frame that begins
    /// with a unit can't be told from the first.
    package mutating func add(_ descriptor: DependencyDescriptor) {
        pictureID = PictureNumber(descriptor.number.rawValue, width: 16)
        startsFrame = startsFrame && descriptor.startsFrame
        startsKeyFrame = startsKeyFrame && descriptor.startsFrame
    }
}

/// The number of a frame on the wire, of a width that the payload format defines.
package struct PictureNumber: Hashable, Sendable {
    /// The number.
    package let value: UInt16
    /// The number of its bits, at most 16.
    package let width: Int8

    /// Creates a number of the low `width` bits of a value.
    package init(_ value: UInt16, width: Int8) {
        self.value = value & UInt16(truncatingIfNeeded: (1 << Int(width)) - 1)
        self.width = width
    }

    /// Returns the signed distance from `other` to this number, along the shorter direction at this number's width.
    package func distance(from other: PictureNumber) -> Int {
        let modulus = 1 << Int(width)
        let difference = (Int(value) - Int(other.value)) & (modulus - 1)
        return difference < modulus / 2 ? difference : difference - modulus
    }
}

/// A temporal layer of a frame. Lower layers decode without the higher ones.
package struct TemporalLayer: Hashable, Sendable {
    /// The index: 0 for the base layer, up to 3.
    package let index: UInt8
    /// Whether the frame depends on base-layer frames only, so that a receiver can switch up to this layer here.
    package let dependsOnBaseOnly: Bool

    /// Creates a layer. The index is limited to two bits.
    package init(index: UInt8, dependsOnBaseOnly: Bool = false) {
        self.index = index & 3
        self.dependsOnBaseOnly = dependsOnBaseOnly
    }

    /// The base layer.
    package static let base = TemporalLayer(index: 0)
}

/// The properties of an encoded frame that its first bytes tell without decoding it.
package struct VideoFrameHeader: Hashable, Sendable {
    /// Whether the frame is a key frame, which decodes without other frames.
    package let isKeyFrame: Bool
    /// The width of a key frame in pixels; zero for other frames.
    package let width: Int
    /// The height of a key frame in pixels; zero for other frames.
    package let height: Int

    package init(isKeyFrame: Bool, width: Int = 0, height: Int = 0) {
        self.isKeyFrame = isKeyFrame
        self.width = width
        self.height = height
    }
}
