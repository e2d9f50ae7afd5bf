import RTCShareRTP

/// The state after the last returned frame, which determines the later frames that can be decoded without those in
/// between (RFC 7741 §4.2).
struct VP8Continuity: Sendable {
    private let pictureID: VP8PictureID?
    private let temporalLevelZeroIndex: UInt8?

    init(_ descriptor: VP8PayloadDescriptor) {
        pictureID = descriptor.pictureID
        temporalLevelZeroIndex = descriptor.temporalLevelZeroIndex
    }

    /// The known frames in a gap, of which not all packets arrived. It grows with each packet that exists.
    struct Gap {
        /// The number of frames to which no other refers.
        private(set) var unreferenced = 0
        /// Whether other frames can refer to a frame in the gap.
        private(set) var hasReference = false
        private var newest: VP8PictureID?

        fileprivate init(after picture: VP8PictureID?) {
            newest = picture
        }

        /// Adds the next packet.
        mutating func add(_ descriptor: VP8PayloadDescriptor) {
            guard let id = descriptor.pictureID, id != newest else { return }
            newest = id
            if descriptor.isNonReference { unreferenced += 1 } else { hasReference = true }
        }
    }

    /// A gap that starts after the last returned frame.
    var gap: Gap { Gap(after: pictureID) }

    /// Whether the delta frame of `descriptor` refers to no frame in `gap`, which precedes it.
    func canSkip(to descriptor: VP8PayloadDescriptor, over gap: Gap) -> Bool {
        if let distance = pictureDistance(to: descriptor) {
            // Only padding was lost, or no other frame refers to the frames in between.
            if distance == 1 { return true }
            if distance > 1, !gap.hasReference, gap.unreferenced == distance - 1 { return true }
        }
        guard let layer = descriptor.temporalLayer, let base = descriptor.temporalLevelZeroIndex,
            let lastBase = temporalLevelZeroIndex
        else { return false }
        // A base-layer frame needs the previous base-layer frame, and a frame with Y set the one that it names.
        if layer.index == 0 { return base == lastBase &+ 1 }
        return layer.dependsOnBaseOnly && base == lastBase
    }

    /// Whether no frame was sent between the last one and that of `descriptor`.
    func isFollowed(by descriptor: VP8PayloadDescriptor) -> Bool { pictureDistance(to: descriptor) == 1 }

    private func pictureDistance(to descriptor: VP8PayloadDescriptor) -> Int? {
        guard let pictureID, let next = descriptor.pictureID, next.isLong == pictureID.isLong else { return nil }
        return next.distance(from: pictureID)
    }
}
