internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The frames that wait for a video's decoder, with the current stage.
///
///     unannounced ─key frame─▶ announcing ─announced─▶ idle ─first sink─▶ decoding
///                                  │                    ▲                    │
///                                  │                    └─last sink removed──┤
///                                  └─announced, with a sink─────────────────▶┘
///     ended: after all of them
///
/// While it is announcing, the first frames are kept: the program doesn't know of the video yet, and its sinks receive
/// all of them.
struct VideoInbox {
    enum Stage: Hashable, CaseIterable { case unannounced, announcing, idle, decoding, ended }

    /// The consequences of a frame: the new size of upright frames, if it has changed, the recorders that must receive
    /// it, and whether to request a key frame.
    typealias Reception = (size: PixelSize?, recorders: [Recorder.Body], needsKeyFrame: Bool)

    /// A recorder of encoded frames, from the first key frame on.
    struct Recorder {
        typealias Body = @Sendable (AssembledFrame) -> Void
        let number: Int
        let body: Body
        var awaitsKeyFrame = true
    }

    private(set) var stage = Stage.unannounced
    /// The number of frames that could not be decoded, or for which there was no time or no key frame.
    private(set) var framesDropped = 0
    private var statistics = VideoDecoderStatistics()
    /// The frames in decoding order. Those on which the first one depends are decoded already.
    private var frames: [AssembledFrame] = []
    private var byteCount = 0
    /// The frames that will not be decoded, to be freed when no lock is held.
    private var released: [AssembledFrame] = []
    /// The number of kept frames that the recorders have received.
    private var recordedCount = 0
    /// Whether frames are dropped until the next key frame.
    private var awaitsKeyFrame = true
    private var isPaused = false
    private var size: PixelSize?
    /// Whether there are sinks.
    private var isWatched = false
    private var recorders: [Recorder] = []
    private var recordersSoFar = 0

    /// The maximum number of waiting frames, after which the decoder continues at the next key frame.
    static let maximumFrames = 60
    /// The maximum number of waiting bytes.
    static let maximumBytes = 16 << 20

    /// The counts of the decoder; nil if nothing is decoded.
    var decoderStatistics: VideoDecoderStatistics? {
        stage == .decoding || stage == .ended && statistics.framesDecoded > 0 ? statistics : nil
    }

    /// Sets the name of the decoder's library.
    mutating func setDecoder(_ name: String) { statistics.decoderImplementation = name }

    // MARK: On the connection's event loop

    mutating func receive(_ frame: AssembledFrame) -> Reception {
        var reception: Reception = (nil, [], false)
        switch stage {
        case .ended: return reception
        case .unannounced where !frame.isKeyFrame:
            framesDropped += 1
            reception.needsKeyFrame = true
            return reception
        case .unannounced: stage = .announcing
        case .announcing, .idle, .decoding: break
        }
        if let size = PixelSize(of: frame), size != self.size {
            self.size = size
            reception.size = size
        }
        guard !isPaused else {
            skip()
            return reception
        }
        if stage != .announcing { reception.recorders = recorders(of: frame) }
        if stage != .idle { reception.needsKeyFrame = append(frame) }
        return reception
    }

    /// Appends a frame if the frames that it depends on are available. If too many wait, all are dropped until the next
    /// key frame. Returns whether to request that.
    private mutating func append(_ frame: AssembledFrame) -> Bool {
        let overflows =
            frames.count >= Self.maximumFrames || !frames.isEmpty && byteCount + frame.data.count > Self.maximumBytes
        if overflows { drop(frames.count) }
        if frame.isKeyFrame { awaitsKeyFrame = false }
        guard !awaitsKeyFrame else {
            framesDropped += 1
            return overflows
        }
        frames.append(frame)
        byteCount += frame.data.count
        return false
    }

    /// Drops the first `count` frames, on which the others don't depend.
    private mutating func drop(_ count: Int) {
        framesDropped += count
        release(count)
    }

    /// Releases frames that have no sinks, without counting them as dropped.
    private mutating func release(_ count: Int) {
        byteCount -= frames[..<count].reduce(0) { $0 + $1.data.count }
        released += frames[..<count]
        frames.removeFirst(count)
        recordedCount = max(0, recordedCount - count)
        if frames.isEmpty { awaitsKeyFrame = true }
    }

    /// Returns the frames that were dropped since the last call.
    mutating func takeReleased() -> [AssembledFrame] {
        defer { released = [] }
        return released
    }

    /// Drops everything until the next key frame.
    private mutating func skip() {
        awaitsKeyFrame = true
        for index in recorders.indices { recorders[index].awaitsKeyFrame = true }
    }

    private mutating func recorders(of frame: AssembledFrame) -> [Recorder.Body] {
        if frame.isKeyFrame {
            for index in recorders.indices { recorders[index].awaitsKeyFrame = false }
        }
        return recorders.filter { !$0.awaitsKeyFrame }.map(\.body)
    }

    // MARK: From the program

    /// Records that the program knows of the video. Call it again while it returns a kept frame, which recorders must
    /// receive.
    mutating func announced() -> (AssembledFrame, [Recorder.Body])? {
        guard stage == .announcing else { return nil }
        if !recorders.isEmpty, recordedCount < frames.count {
            let frame = frames[recordedCount]
            recordedCount += 1
            return (frame, recorders(of: frame))
        }
        stage = .decoding
        if !isWatched { rest() }
        return nil
    }

    /// Sets whether there are sinks. Returns whether to request a key frame.
    mutating func setWatched(_ isWatched: Bool) -> Bool {
        self.isWatched = isWatched
        switch stage {
        case .idle where isWatched:
            stage = .decoding
            return !isPaused
        case .decoding where !isWatched: rest()
        case .unannounced, .announcing, .idle, .decoding, .ended: break
        }
        return false
    }

    /// Releases the waiting frames, because there are no sinks.
    private mutating func rest() {
        stage = .idle
        statistics.delays.interrupt()
        release(frames.count)
    }

    /// Adds a recorder. Returns its number, and whether to request a key frame.
    mutating func add(_ recorder: @escaping Recorder.Body) -> (number: Int, needsKeyFrame: Bool) {
        recordersSoFar += 1
        guard stage != .ended else { return (recordersSoFar, false) }
        recorders.append(Recorder(number: recordersSoFar, body: recorder))
        return (recordersSoFar, stage == .idle || stage == .decoding || recordedCount > 0)
    }

    mutating func removeRecorder(_ number: Int) { recorders.removeAll { $0.number == number } }

    /// Pauses or resumes. Frames that arrive during a pause are skipped. Returns whether to request a key frame.
    mutating func setPaused(_ isPaused: Bool) -> Bool {
        defer { self.isPaused = isPaused }
        guard isPaused != self.isPaused else { return false }
        if isPaused {
            statistics.delays.interrupt()
            if stage == .announcing { release(frames.count) }
            skip()
            return false
        }
        return stage == .announcing || stage == .decoding || stage == .idle && !recorders.isEmpty
    }

    /// Ends reception. Frames that wait for the decoder are still decoded.
    mutating func finish() {
        guard stage != .ended else { return }
        if stage != .decoding { release(frames.count) }
        stage = .ended
        recorders = []
    }

    // MARK: On the decoder's thread

    /// Returns the next frame to decode; nil if none follows.
    mutating func next() -> Mailbox<VideoInbox>.Found<AssembledFrame?> {
        guard stage == .decoding || stage == .ended else { return .wait(until: nil) }
        guard let frame = frames.first else { return stage == .ended ? .done(nil) : .wait(until: nil) }
        frames.removeFirst()
        byteCount -= frame.data.count
        return .done(frame)
    }

    mutating func didDecode(
        _ frame: AssembledFrame, size: PixelSize, quantizer: Int?, from start: Instant, to end: Instant
    ) {
        statistics.framesDecoded += 1
        if frame.isKeyFrame { statistics.keyFramesDecoded += 1 }
        statistics.totalDecodeTime += end - start
        statistics.qpSum = quantizer.flatMap { quantizer in statistics.qpSum.map { $0 + quantizer } }
        (statistics.frameWidth, statistics.frameHeight) = (size.width, size.height)
        statistics.delays.pictureWasShown(at: end)
    }

    /// Drops the frames that depend on one that could not be decoded. Returns whether to request a key frame.
    mutating func didNotDecode() -> Bool {
        framesDropped += 1
        let next = frames.firstIndex(where: \.isKeyFrame)
        drop(next ?? frames.count)
        return next == nil && stage == .decoding
    }
}

extension PixelSize {
    /// Creates the size of a key frame, upright; nil for other frames.
    fileprivate init?(of frame: AssembledFrame) {
        guard let size = frame.size else { return nil }
        self =
            frame.quarterTurns % 2 == 0
            ? PixelSize(width: size.width, height: size.height) : PixelSize(width: size.height, height: size.width)
    }
}
