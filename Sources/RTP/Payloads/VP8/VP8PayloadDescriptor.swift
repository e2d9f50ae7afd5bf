package import RTCShareWireFormat

/// The VP8 payload descriptor, which precedes each piece of a VP8 frame (RFC 7741 §4.2).
package struct VP8PayloadDescriptor: Hashable, Sendable {
    /// Whether no other frame refers to this one (N), so that it can be dropped without effect on others.
    package var isNonReference: Bool
    /// Whether the piece begins a partition of the frame (S).
    package var startsPartition: Bool
    /// PID: the partition in which the piece begins, 0 to 7.
    package var partitionIndex: UInt8
    /// The picture ID; nil if the sender does not number frames.
    package var pictureID: VP8PictureID?
    /// TL0PICIDX: the number of the base-layer frame that this frame is, or depends on.
    package var temporalLevelZeroIndex: UInt8?
    /// TID and Y: the temporal layer; nil if there are none.
    package var temporalLayer: VP8TemporalLayer?
    /// KEYIDX: the number of the key frame on which this frame depends, 0 to 31.
    package var keyFrameIndex: UInt8?

    /// Creates a descriptor with the given fields. The indices are limited to their widths.
    package init(
        startsPartition: Bool, partitionIndex: UInt8 = 0, isNonReference: Bool = false,
        pictureID: VP8PictureID? = nil, temporalLevelZeroIndex: UInt8? = nil,
        temporalLayer: VP8TemporalLayer? = nil, keyFrameIndex: UInt8? = nil
    ) {
        self.isNonReference = isNonReference
        self.startsPartition = startsPartition
        self.partitionIndex = partitionIndex & 7
        self.pictureID = pictureID
        self.temporalLevelZeroIndex = temporalLevelZeroIndex
        self.temporalLayer = temporalLayer
        self.keyFrameIndex = keyFrameIndex.map { $0 & 0x1F }
    }

    /// Whether the piece is the first of its frame.
    package var startsFrame: Bool { startsPartition && partitionIndex == 0 }

    /// The number of bytes on the wire: 1 to 6.
    package var byteCount: Int {
        guard hasExtension else { return 1 }
        var count = 2
        if let pictureID { count += pictureID.isLong ? 2 : 1 }
        if temporalLevelZeroIndex != nil { count += 1 }
        if temporalLayer != nil || keyFrameIndex != nil { count += 1 }
        return count
    }

    private var hasExtension: Bool {
        pictureID != nil || temporalLevelZeroIndex != nil || temporalLayer != nil || keyFrameIndex != nil
    }

    /// Parses the descriptor at the start of an RTP payload, and returns its size in bytes. The VP8 data follows it.
    package static func parse(_ payload: RawSpan) throws(RTPError) -> (descriptor: Self, byteCount: Int) {
        var reader = FieldReader(payload)
        let first = try reader.uint8(.payloadDescriptor)
        var descriptor = Self(
            startsPartition: first & 0x10 != 0, partitionIndex: first & 7, isNonReference: first & 0x20 != 0)
        guard first & 0x80 != 0 else { return (descriptor, reader.offset) }
        let present = try reader.uint8(.payloadDescriptor)
        if present & 0x80 != 0 {
            let high = try reader.uint8(.payloadDescriptor)
            if high & 0x80 != 0 {
                let low = try reader.uint8(.payloadDescriptor)
                descriptor.pictureID = .long(UInt16(high & 0x7F) << 8 | UInt16(low))
            } else {
                descriptor.pictureID = .short(high)
            }
        }
        if present & 0x40 != 0 { descriptor.temporalLevelZeroIndex = try reader.uint8(.payloadDescriptor) }
        if present & 0x30 != 0 {
            let byte = try reader.uint8(.payloadDescriptor)
            if present & 0x20 != 0 {
                descriptor.temporalLayer = VP8TemporalLayer(index: byte >> 6, dependsOnBaseOnly: byte & 0x20 != 0)
            }
            if present & 0x10 != 0 { descriptor.keyFrameIndex = byte & 0x1F }
        }
        return (descriptor, reader.offset)
    }

    /// Writes the descriptor, ``byteCount`` bytes.
    package func write(to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(
            UInt8(
                (hasExtension ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (startsPartition ? 0x10 : 0)
                    | partitionIndex & 7))
        guard hasExtension else { return }
        try writer.write(
            UInt8(
                (pictureID == nil ? 0 : 0x80) | (temporalLevelZeroIndex == nil ? 0 : 0x40)
                    | (temporalLayer == nil ? 0 : 0x20) | (keyFrameIndex == nil ? 0 : 0x10)))
        switch pictureID {
        case .short(let number): try writer.write(number & 0x7F)
        case .long(let number): try writer.write(number | 0x8000)
        case nil: break
        }
        if let temporalLevelZeroIndex { try writer.write(temporalLevelZeroIndex) }
        guard temporalLayer != nil || keyFrameIndex != nil else { return }
        let layer = temporalLayer.map { $0.index << 6 | ($0.dependsOnBaseOnly ? 0x20 : 0) } ?? 0
        try writer.write(layer | (keyFrameIndex ?? 0) & 0x1F)
    }
}

/// A picture ID of 7 or 15 bits (RFC 7741 §4.2).
package enum VP8PictureID: Hashable, Sendable {
    /// A picture ID of 7 bits.
    case short(UInt8)
    /// A picture ID of 15 bits.
    case long(UInt16)

    /// The number.
    package var value: UInt16 {
        switch self {
        case .short(let number): UInt16(number & 0x7F)
        case .long(let number): number & 0x7FFF
        }
    }

    /// Whether the number has 15 bits.
    package var isLong: Bool { if case .long = self { true } else { false } }

    /// Returns the signed distance from `other` to this number, along the shorter direction at this number's width.
    package func distance(from other: VP8PictureID) -> Int {
        let modulus = isLong ? 0x8000 : 0x80
        let difference = (Int(value) - Int(other.value)) & (modulus - 1)
        return difference < modulus / 2 ? difference : difference - modulus
    }
}

/// A temporal layer of a VP8 frame (RFC 7741 §4.2). Lower layers decode without the higher ones.
package struct VP8TemporalLayer: Hashable, Sendable {
    /// TID: 0 for the base layer, up to 3.
    package let index: UInt8
    /// Y: the frame depends on base-layer frames only, so that a receiver can switch up to this layer here.
    package let dependsOnBaseOnly: Bool

    /// Creates a layer. The index is limited to two bits.
    package init(index: UInt8, dependsOnBaseOnly: Bool = false) {
        self.index = index & 3
        self.dependsOnBaseOnly = dependsOnBaseOnly
    }

    /// The base layer.
    package static let base = VP8TemporalLayer(index: 0)
}
