import RTCShareRTP

/// The state after the last returned frame, which determines the later frames that can be decoded without those in
/// between.
struct FrameContinuity: Sendable {
    /// The payload format: no delta frame follows a frame of another.
    let format: any VideoPayloadFormat
    private let pictureID: PictureNumber?
    private let temporalLevelZeroIndex: UInt8?

    init(_ frame: PacketContent) {
        format = frame.format
        pictureID = frame.pictureID
        temporalLevelZeroIndex = frame.temporalLevelZeroIndex
    }

    /// The known frames in a gap, of which not all packets arrived. It grows with each packet that exists.
    struct Gap {
        /// The number of frames to which no other refers.
        private(set) var unreferenced = 0
        /// Whether other frames can refer to a frame in the gap.
        private(set) var hasReference = false
        private var newest: PictureNumber?

        fileprivate init(after picture: PictureNumber?) {
            newest = picture
        }

        /// Adds the next packet.
        mutating func add(_ packet: PacketContent) {
            guard let id = packet.pictureID, id != newest else { return }
            newest = id
            if packet.isNonReference { unreferenced += 1 } else { hasReference = true }
        }
    }

    /// A gap that starts after the last returned frame.
    var gap: Gap { Gap(after: pictureID) }

    /// Whether a delta frame refers to no frame in `gap`, which precedes it.
    func canSkip(to frame: PacketContent, over gap: Gap) -> Bool {
        guard frame.format === format else { return false }
        if let distance = pictureDistance(to: frame) {
            // Only padding was lost, or no other frame refers to the frames in between.
            if distance == 1 { return true }
            if distance > 1, !gap.hasReference, gap.unreferenced == distance - 1 { return true }
        }
        guard let layer = frame.temporalLayer, let base = frame.temporalLevelZeroIndex,
            let lastBase = temporalLevelZeroIndex
        else { return false }
        // A base-layer frame needs the previous base-layer frame, and a frame with Y set the one that it names.
        if layer.index == 0 { return base == lastBase &+ 1 }
        return layer.dependsOnBaseOnly && base == lastBase
    }

    /// Whether no frame was sent between the last one and this one.
    func isFollowed(by frame: PacketContent) -> Bool { pictureDistance(to: frame) == 1 }

    private func pictureDistance(to frame: PacketContent) -> Int? {
        guard let pictureID, let next = frame.pictureID, next.width == pictureID.width else { return nil }
        return next.distance(from: pictureID)
    }
}
