internal import RTCShareNetworkSimulation
internal import RTCShareRTP
internal import RTCShareWireFormat

/// Frames with the sizes of a screen's encoder: mostly small, some larger, and rarely a large one.
///
/// The last eight bytes of a frame are the time at which it was sent, for receivers with the same machine's clock.
struct FanoutFrames {
    static let framesPerSecond = 30
    /// The payload of a packet in bytes, as in a share: 1200 less the longest header and tag.
    static let maximumPayload = 1200 - 36 - 2 - 16
    /// The size of the timestamp at a frame's end in bytes.
    static let stampByteCount = 8

    private var random: SeededGenerator
    private var number = FrameNumber(1)
    private let scale: Double

    /// Creates frames with a mean of `kilobitsPerSecond`.
    init(kilobitsPerSecond: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        // The mean of the sizes below is 2500 bytes, which results in 600 kbit/s at thirty per second.
        scale = Double(kilobitsPerSecond) / 600
    }

    /// Returns the next frame's size: of a hundred frames 80 are small, 18 larger and 2 large.
    mutating func nextSize() -> Int {
        let kind = Double.random(in: 0..<1, using: &random)
        let size: Double =
            switch kind {
            case ..<0.80: .random(in: 600..<2400, using: &random)
            case ..<0.98: .random(in: 3000..<7000, using: &random)
            default: .random(in: 12_000..<28_000, using: &random)
            }
        return max(64, Int(size * scale))
    }

    /// Returns a frame that is sent at `now`.
    mutating func next(isKeyFrame: Bool, now: Instant) -> PacketizedFrame {
        let start: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x07, 0x38, 0x04] : [0x11, 0, 0]
        let size = isKeyFrame ? Int(20_000 * scale) : nextSize()
        var bytes = start
        bytes.reserveCapacity(size + start.count)
        let salt = UInt8.random(in: 0...255, using: &random)
        for index in start.count..<max(size - Self.stampByteCount, start.count + 1) {
            bytes.append(UInt8(truncatingIfNeeded: index) &* 31 &+ salt)
        }
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: now.nanoseconds >> Int64(shift)))
        }
        return PacketizedFrame(
            bytes, format: .vp8, number: number.takeNext(), isKeyFrame: isKeyFrame,
            captureTime: .nanoseconds(now.nanoseconds), width: 1920, height: 1080,
            maximumPayloadByteCount: Self.maximumPayload)
    }
}
