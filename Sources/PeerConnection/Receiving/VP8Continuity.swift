import RTP

/// What the frame returned last tells of which later frames can be decoded without those between (RFC 7741 §4.2).
struct VP8Continuity: Sendable {
    private let pictureID: VP8PictureID?
    private let temporalLevelZeroIndex: UInt8?

    init(_ descriptor: VP8PayloadDescriptor) {
        pictureID = descriptor.pictureID
        temporalLevelZeroIndex = descriptor.temporalLevelZeroIndex
    }

    /// Whether the delta frame of `descriptor` refers to nothing in `gap`, the numbers that did not all arrive.
    func canSkip(to descriptor: VP8PayloadDescriptor, gap: Range<Int64>, buffer: VP8PacketBuffer) -> Bool {
        if let distance = pictureDistance(to: descriptor) {
            // Nothing but padding was lost, or every frame between is known as one that nobody refers to.
            if distance == 1 { return true }
            if distance > 1, unreferencedPictures(in: gap, buffer: buffer, before: descriptor) == distance - 1 {
                return true
            }
        }
        guard let layer = descriptor.temporalLayer, let base = descriptor.temporalLevelZeroIndex,
            let lastBase = temporalLevelZeroIndex
        else { return false }
        // A base-layer frame needs the base-layer frame before it; a frame with Y set the one that it names.
        if layer.index == 0 { return base == lastBase &+ 1 }
        return layer.dependsOnBaseOnly && base == lastBase
    }

    private func pictureDistance(to descriptor: VP8PayloadDescriptor) -> Int? {
        guard let pictureID, let next = descriptor.pictureID, next.isLong == pictureID.isLong else { return nil }
        return next.distance(from: pictureID)
    }

    private func unreferencedPictures(
        in gap: Range<Int64>, buffer: VP8PacketBuffer, before descriptor: VP8PayloadDescriptor
    ) -> Int {
        var count = 0
        var counted = pictureID
        for number in gap {
            guard let piece = buffer[number]?.descriptor, let id = piece.pictureID, id != counted,
                id != descriptor.pictureID
            else { continue }
            guard piece.isNonReference else { return 0 }
            counted = id
            count += 1
        }
        return count
    }
}
