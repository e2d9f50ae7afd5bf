internal import RTCShareMedia
internal import RTCShareRTP

/// The frames of one video in order, beginning with a key frame. It also decides when another key frame is needed, so
/// that players can seek.
struct PictureLine {
    /// A frame, and its time since the beginning of the recording.
    struct Frame: Hashable {
        var time: Duration
        /// The data of its block.
        let data: [UInt8]
        /// The properties of a track that begins with this key frame; nil for other frames.
        let video: WebMTrack.Video?
    }

    private var waiting: [Frame] = []
    private var lastTime: Duration?
    /// The codec of the last frame.
    private var codecID: String?
    private var awaitsKeyFrame = true
    private var pacing = KeyFramePacing()

    /// Makes the line wait for a key frame, after its source has restarted.
    mutating func restart() { awaitsKeyFrame = true }

    /// Adds a frame, in decoding order. Ignores it if it is not a frame of its codec, depends on a missing frame, or is
    /// too far behind the line.
    /// - Returns: Whether to request a key frame.
    mutating func add(_ frame: RecordedFrame, as codec: RecordedCodec, at time: Duration) -> Bool {
        guard let header = try? frame.format.header(of: frame.data.span.bytes),
            let data = try? codec.block(frame.data)
        else { return false }
        if codecID != codec.id { restart() }
        codecID = codec.id
        // Two frames can't have the same time: the second is shown right after the first.
        let earliest = lastTime.map { $0 + Self.shortestInterval } ?? .zero
        guard earliest - time <= Self.longestLead else {
            awaitsKeyFrame = true
            return false
        }
        let video = header.isKeyFrame ? Self.video(frame, as: codec, header) : nil
        if video != nil { awaitsKeyFrame = false }
        guard !awaitsKeyFrame else { return false }
        let time = max(time, earliest)
        lastTime = time
        waiting.append(Frame(time: time, data: data, video: video))
        return pacing.wantsKeyFrame(after: video != nil, at: time)
    }

    /// Returns the properties of a track that begins with a key frame; nil if the frame lacks some.
    private static func video(
        _ frame: RecordedFrame, as codec: RecordedCodec, _ header: VideoFrameHeader
    ) -> WebMTrack.Video? {
        guard let privateData = try? codec.privateData(frame.data) else { return nil }
        return WebMTrack.Video(
            codecID: codec.id, privateData: privateData, size: PixelSize(width: header.width, height: header.height),
            quarterTurns: frame.quarterTurns)
    }

    /// Removes and returns the frames before `horizon`; all of them for nil.
    mutating func take(until horizon: Duration?) -> [Frame] {
        let count = horizon.flatMap { horizon in waiting.firstIndex { $0.time > horizon } } ?? waiting.count
        defer { waiting.removeFirst(count) }
        return Array(waiting[..<count])
    }

    /// The resolution of WebM's times.
    private static let shortestInterval = Duration.milliseconds(1)
    /// The maximum by which the line may be ahead of a frame's own time. Above it the stream has more frames than
    /// milliseconds, and the waiting frames would grow without limit.
    static let longestLead = Duration.seconds(1)
}

/// The distance between the key frames to which a player can seek: those that come anyway, and those that are
/// requested.
///
/// A player that seeks decodes all frames from the previous key frame on. So the pacing counts frames, and requests
/// none of an idle screen, which has few. But a key frame costs the receivers bitrate, so that the pacing requests few:
/// one every ten seconds of a video at 30 frames per second, a twentieth of its bits.
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
        // The request may have been lost on its way, or rejected.
        guard framesSince >= Self.frames, time >= last + Self.time, time >= asked + Self.time else { return false }
        asked = time
        return true
    }
}
