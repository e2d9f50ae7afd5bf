package import RTCShareMedia

/// A share of a screen with random changes, to a viewer that loses whole frames and requests key frames: frame after
/// frame, the same for the same seed.
package struct RandomShare: Sequence, IteratorProtocol, Sendable {
    /// One of its frames.
    package struct Picture: Sendable {
        package let index: Int
        package let time: Duration
        /// The frame of the source; nil if nothing changed.
        package let frame: VideoFrame?
        package let change: WindowScreen.Change
        package let wantsKeyFrame: Bool
        /// Whether the viewer decodes the encoded frame: not if it is lost, or follows a lost one before the key frame.
        package let isSeen: Bool
    }

    /// The changes, in the proportions of their frequency.
    private static let changes: [WindowScreen.Change] = [
        .nothing, .nothing, .nothing, .nothing, .letter, .letter, .letter, .letter, .line, .scroll, .scroll, .scroll,
        .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .drag, .drag, .drag, .jump, .film,
    ]

    package let size: PixelSize
    private let count: Int
    private var index = 0
    private var numbers: SeededNumbers
    private var screen: WindowScreen
    /// The time of the key frame for which the viewer waits after a loss.
    private var keyFrameAt: Int? = 0

    /// Creates a share of so many frames, 30 per second.
    package init(size: PixelSize, pictures: Int, seed: UInt64) {
        self.size = size
        count = pictures
        numbers = SeededNumbers(seed)
        screen = WindowScreen(size: size, seed: seed)
    }

    package mutating func next() -> Picture? {
        guard index < count, let change = Self.changes.randomElement(using: &numbers) else { return nil }
        defer { index += 1 }
        let time = Duration.seconds(index) / 30
        let damage = screen.make(change)
        let isFirst = index == 0
        let frame =
            damage.isEmpty && !isFirst
            ? nil : VideoFrame(buffer: screen.buffer, timestamp: time, damage: isFirst ? nil : damage)
        let wantsKeyFrame = index == keyFrameAt || index % 97 == 50
        return Picture(
            index: index, time: time, frame: frame, change: change, wantsKeyFrame: wantsKeyFrame,
            isSeen: passes(keyFrame: wantsKeyFrame))
    }

    /// Whether this frame is decoded.
    private mutating func passes(keyFrame isKeyFrame: Bool) -> Bool {
        if let keyFrameAt, index < keyFrameAt { return false }
        if isKeyFrame {
            keyFrameAt = nil
        } else if Int.random(in: 0..<30, using: &numbers) == 0 {
            keyFrameAt = index + Int.random(in: 1...4, using: &numbers)
            return false
        }
        return true
    }
}
