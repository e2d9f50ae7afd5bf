import RTCShareRTP

/// What the frame returned last tells of which later frames can be decoded without those between (RFC 7741 §4.2).
struct VP8Continuity: Sendable {
    private let pictureID: VP8PictureID?
    private let temporalLevelZeroIndex: UInt8?

    init(_ descriptor: VP8PayloadDescriptor) {
        pictureID = descriptor.pictureID
        temporalLevelZeroIndex = descriptor.temporalLevelZeroIndex
    }

    /// What is known of the pictures in a gap, whose packets did not all arrive: it grows with each packet that is there.
    struct Gap {
        /// Pictures that no other refers to.
        private(set) var unreferenced = 0
        /// Whether some picture is one that others may refer to.
        private(set) var hasReference = false
        private var newest: VP8PictureID?

        fileprivate init(after picture: VP8PictureID?) {
            newest = picture
        }

        /// Takes the next packet.
        mutating func add(_ descriptor: VP8PayloadDescriptor) {
            guard let id = descriptor.pictureID, id != newest else { return }
            newest = id
            if descriptor.isNonReference { unreferenced += 1 } else { hasReference = true }
        }
    }

    /// A gap that begins behind the frame returned last.
    var gap: Gap { Gap(after: pictureID) }

    /// Whether the delta frame of `descriptor` refers to nothing in `gap`, which lies before it.
    func canSkip(to descriptor: VP8PayloadDescriptor, over gap: Gap) -> Bool {
        if let distance = pictureDistance(to: descriptor) {
            // Nothing but padding was lost, or every frame between is known as one that nobody refers to.
            if distance == 1 { return true }
            if distance > 1, !gap.hasReference, gap.unreferenced == distance - 1 { return true }
        }
        guard let layer = descriptor.temporalLayer, let base = descriptor.temporalLevelZeroIndex,
            let lastBase = temporalLevelZeroIndex
        else { return false }
        // A base-layer frame needs the base-layer frame before it; a frame with Y set the one that it names.
        if layer.index == 0 { return base == lastBase &+ 1 }
        return layer.dependsOnBaseOnly && base == lastBase
    }

    /// Whether no picture was sent between that and the one of `descriptor`.
    func isFollowed(by descriptor: VP8PayloadDescriptor) -> Bool { pictureDistance(to: descriptor) == 1 }

    private func pictureDistance(to descriptor: VP8PayloadDescriptor) -> Int? {
        guard let pictureID, let next = descriptor.pictureID, next.isLong == pictureID.isLong else { return nil }
        return next.distance(from: pictureID)
    }
}
