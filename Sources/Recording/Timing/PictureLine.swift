internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The frames of one picture in their order, from one on that can be decoded on its own; and when another of those would be
/// welcome, for somebody who looks for a place to begin.
struct PictureLine {
    /// A frame, and how long after the beginning it is to be seen.
    struct Frame: Hashable {
        var time: Duration
        let data: [UInt8]
        /// Columns and rows of one that can be decoded on its own; nil for others.
        let size: PixelSize?
        /// It is upright after so many quarter turns clockwise.
        let quarterTurns: Int
    }

    private var waiting: [Frame] = []
    private var lastTime: Duration?
    private var awaitsKeyFrame = true
    private var pacing = KeyFramePacing()

    /// What a line that began anew awaits.
    mutating func restart() { awaitsKeyFrame = true }

    /// Takes a frame, in the order in which they are decoded. One that is not a VP8 frame, builds on a frame that is not
    /// there, or follows too many others is left out.
    /// - Returns: whether a frame that can be decoded on its own is to be asked for.
    mutating func add(_ data: [UInt8], quarterTurns: Int = 0, at time: Duration) -> Bool {
        guard let header = try? VP8FrameHeader(parsing: data.span.bytes) else { return false }
        // Two can't stand at one time: a frame that would is seen right after the one before.
        let earliest = lastTime.map { $0 + Self.shortestInterval } ?? .zero
        guard earliest - time <= Self.longestLead else {
            awaitsKeyFrame = true
            return false
        }
        if header.isKeyFrame { awaitsKeyFrame = false }
        guard !awaitsKeyFrame else { return false }
        let time = max(time, earliest)
        lastTime = time
        waiting.append(
            Frame(
                time: time, data: data,
                size: header.isKeyFrame ? PixelSize(width: header.width, height: header.height) : nil,
                quarterTurns: quarterTurns))
        return pacing.wantsKeyFrame(after: header.isKeyFrame, at: time)
    }

    /// All that is to be seen before `horizon`, and was not taken yet; with nil, all that came.
    mutating func take(until horizon: Duration?) -> [Frame] {
        let count = horizon.flatMap { horizon in waiting.firstIndex { $0.time > horizon } } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return Array(waiting[..<count])
    }

    /// WebM's times are of a millisecond.
    private static let shortestInterval = Duration.milliseconds(1)
    /// How far the line may be ahead of a frame's own time. No picture has more frames than there are milliseconds for long:
    /// they would wait, more and more of them, for a time that comes later and later.
    static let longestLead = Duration.seconds(1)
}

/// How far apart the places are where one can begin to look: key frames that came anyway, and those that are asked for.
///
/// Who seeks decodes all from the key frame before. So it is frames that are counted, and a screen at rest, which has few,
/// is asked for none. But a key frame costs bits of whoever is sent it, so that not many are asked for either: of a film of
/// 30 frames a second one each ten seconds, a twentieth of its bits.
private struct KeyFramePacing {
    private static let frames = 300
    private static let time = Duration.seconds(10)

    private var framesSince = 0
    private var last = Duration.zero
    private var asked = Duration.zero

    mutating func wantsKeyFrame(after isKeyFrame: Bool, at time: Duration) -> Bool {
        guard !isKeyFrame else {
            framesSince = 0
            last = time
            return false
        }
        framesSince += 1
        // What was asked for may have been lost on its way, or be denied.
        guard framesSince >= Self.frames, time >= last + Self.time, time >= asked + Self.time else { return false }
        asked = time
        return true
    }
}
