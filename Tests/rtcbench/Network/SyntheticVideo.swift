internal import RTCShareNetworkSimulation
internal import RTCShareRTP
internal import RTCShareWireFormat

/// An encoder without video: the sizes of its frames follow a target like an encoder's, and their bytes are
/// meaningless.
///
/// In motion there are 30 frames per second of varying sizes, and the excess of one reduces the next ones. A still
/// frame is refined until it is sharp, at ten frames per second, and then refreshed once per second.
struct SyntheticVideo {
    enum Phase {
        case motion
        case still
        case paused
    }

    /// The size of a sharp frame in bytes: text on a screen of 1920×1080.
    static let sharpByteCount = 150_000
    private static let keyFrameFactor = 4.0
    /// The size of a frame without changes in bytes.
    private static let refreshByteCount = 300

    private(set) var nextFrame: Instant
    var target = DataRate.zero
    var isQueueFull = false
    /// The number of the first sharp frame.
    private(set) var sharpFrom: Int?
    private(set) var frameCount = 0
    private var owesKeyFrame = true
    /// The accumulated excess in bytes.
    private var excess = 0.0
    private var refined = 0
    private var number = FrameNumber(0)
    private var generator: SeededGenerator

    init(start: Instant, seed: UInt64) {
        nextFrame = start
        generator = SeededGenerator(seed: seed)
    }

    mutating func requestKeyFrame() { owesKeyFrame = true }

    /// Returns the frame that is due now; nil if there is none, as in pauses and with a target of zero.
    mutating func frame(_ phase: Phase, now: Instant) -> PacketizedFrame? {
        guard nextFrame <= now else { return nil }
        let isSharp = phase == .still && refined >= Self.sharpByteCount && !owesKeyFrame
        let interval: Duration = phase == .motion ? .microseconds(33_333) : .milliseconds(isSharp ? 1000 : 100)
        nextFrame = now.advanced(by: interval)
        // The excess decreases over time, even without frames.
        let allowed = target.bitsPerSecond > 0 ? Double(target.bitsPerSecond) / 8 * interval.seconds : 0
        guard phase != .paused, target > .zero, !isQueueFull else {
            excess = max(0, excess - allowed)
            return nil
        }
        let isKeyFrame = owesKeyFrame
        var size = isSharp ? Double(Self.refreshByteCount) : allowed * (1 + 0.15 * generator.normal())
        if isKeyFrame {
            size *= Self.keyFrameFactor
            refined = 0
            sharpFrom = nil
        }
        size = max(size - excess / 8, allowed / 5, 100)
        if !isSharp { excess = max(0, excess + size - allowed) }
        if phase == .still {
            refined += Int(size)
            if refined >= Self.sharpByteCount, sharpFrom == nil { sharpFrom = frameCount }
        } else {
            refined = 0
            sharpFrom = nil
        }
        owesKeyFrame = false
        frameCount += 1
        return packetize(Int(size), isKeyFrame: isKeyFrame, now: now)
    }

    private mutating func packetize(_ size: Int, isKeyFrame: Bool, now: Instant) -> PacketizedFrame {
        var bytes = [UInt8](repeating: 0x5A, count: max(16, size))
        // RFC 6386 §9.1: the frame tag, and for a key frame the start code and a size of 1280×720.
        let start: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02] : [0x11, 0, 0]
        bytes.replaceSubrange(0..<start.count, with: start)
        return PacketizedFrame(
            bytes, format: .vp8, number: number.takeNext(), isKeyFrame: isKeyFrame,
            captureTime: .nanoseconds(now.nanoseconds), width: 1280, height: 720)
    }
}
