package import RTCShareMedia

/// A share of a screen on which anything happens, to a viewer who loses whole frames and asks for key frames: picture after
/// picture, the same for the same seed.
package struct RandomShare: Sequence, IteratorProtocol, Sendable {
    /// One of its pictures.
    package struct Picture: Sendable {
        package let index: Int
        package let time: Duration
        /// What the source gives; nil where nothing changed.
        package let frame: VideoFrame?
        package let change: WindowScreen.Change
        package let wantsKeyFrame: Bool
        /// Whether the viewer decodes what is made of it: neither what is lost, nor what follows that before the key frame.
        package let isSeen: Bool
    }

    /// What happens, as often as it stands here.
    private static let changes: [WindowScreen.Change] = [
        .nothing, .nothing, .nothing, .nothing, .letter, .letter, .letter, .letter, .line, .scroll, .scroll, .scroll,
        .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .drag, .drag, .drag, .jump, .film,
    ]

    package let size: PixelSize
    private let count: Int
    private var index = 0
    private var numbers: SeededNumbers
    private var screen: WindowScreen
    /// Until when the viewer, who lost a frame, waits for the key frame that was asked for.
    private var keyFrameAt: Int? = 0

    /// A share of so many pictures, 30 a second.
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

    /// Whether this frame comes to be decoded.
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
