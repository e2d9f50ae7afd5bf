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
    package var pictureID: PictureNumber?
    /// TL0PICIDX: the number of the base-layer frame that this frame is, or depends on.
    package var temporalLevelZeroIndex: UInt8?
    /// TID and Y: the temporal layer; nil if there are none.
    package var temporalLayer: TemporalLayer?
    /// KEYIDX: the number of the key frame on which this frame depends, 0 to 31.
    package var keyFrameIndex: UInt8?

    /// Creates a descriptor with the given fields. The indices are limited to their widths.
    package init(
        startsPartition: Bool, partitionIndex: UInt8 = 0, isNonReference: Bool = false,
        pictureID: PictureNumber? = nil, temporalLevelZeroIndex: UInt8? = nil,
        temporalLayer: TemporalLayer? = nil, keyFrameIndex: UInt8? = nil
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
                descriptor.temporalLayer = TemporalLayer(index: byte >> 6, dependsOnBaseOnly: byte & 0x20 != 0)
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
        if let pictureID {
            if pictureID.isLong {
                try writer.write(pictureID.value | 0x8000)
            } else {
                try writer.write(UInt8(truncatingIfNeeded: pictureID.value))
            }
        }
        if let temporalLevelZeroIndex { try writer.write(temporalLevelZeroIndex) }
        guard temporalLayer != nil || keyFrameIndex != nil else { return }
        let layer = temporalLayer.map { $0.index << 6 | ($0.dependsOnBaseOnly ? 0x20 : 0) } ?? 0
        try writer.write(layer | (keyFrameIndex ?? 0) & 0x1F)
    }
}

extension PictureNumber {
    /// Creates a picture ID of 7 bits (RFC 7741 §4.2).
    package static func short(_ value: UInt8) -> PictureNumber { PictureNumber(UInt16(value), width: 7) }

    /// Creates a picture ID of 15 bits (RFC 7741 §4.2).
    package static func long(_ value: UInt16) -> PictureNumber { PictureNumber(value, width: 15) }

    fileprivate var isLong: Bool { width > 7 }
}
