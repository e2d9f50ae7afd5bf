internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The frames that wait for a video's decoder, and for what they wait.
///
///     unannounced ─key frame─▶ announcing ─announced─▶ idle ─first sink─▶ decoding
///                                  │                    ▲                    │
///                                  │                    └─last sink is gone──┤
///                                  └─announced, with a sink─────────────────▶┘
///     ended: after all of them
///
/// While it is announcing, the first frames are kept: the program doesn't know of them yet, and its sinks get them all.
struct VideoInbox {
    enum Stage: Hashable, CaseIterable { case unannounced, announcing, idle, decoding, ended }

    /// What follows from a frame: the size of the pictures from it on, upright, if it is another one, the recorders that get it,
    /// and whether a key frame must be requested.
    typealias Reception = (size: PixelSize?, recorders: [Recorder.Body], needsKeyFrame: Bool)

    /// Takes encoded frames, from the first on that decodes without another.
    struct Recorder {
        typealias Body = @Sendable (AssembledFrame) -> Void
        let number: Int
        let body: Body
        var awaitsKeyFrame = true
    }

    private(set) var stage = Stage.unannounced
    /// Frames that did not decode, or for which there was no time or no key frame.
    private(set) var framesDropped = 0
    private var statistics = VideoDecoderStatistics()
    /// In the order of decoding. The first one needs none that is not here, or was decoded.
    private var frames: [AssembledFrame] = []
    private var byteCount = 0
    /// Frames that will not be decoded, to be freed when no lock is held.
    private var released: [AssembledFrame] = []
    /// How many of the kept frames the recorders have.
    private var recordedCount = 0
    /// Whether frames are dropped until one decodes without another.
    private var awaitsKeyFrame = true
    private var isPaused = false
    private var size: PixelSize?
    /// Whether there are sinks.
    private var isWatched = false
    private var recorders: [Recorder] = []
    private var recordersSoFar = 0

    /// A decoder that falls this far behind continues at the next key frame.
    static let maximumFrames = 60
    /// The same in bytes, whatever the frames' sizes are.
    static let maximumBytes = 16 << 20

    /// The counts of the decoder; nil if nothing is decoded.
    var decoderStatistics: VideoDecoderStatistics? {
        stage == .decoding || stage == .ended && statistics.framesDecoded > 0 ? statistics : nil
    }

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

    /// Appends a frame if the ones before it are here. If too many wait, all are dropped, and a key frame is awaited.
    /// Returns whether it must be requested.
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

    /// As ``drop(_:)`` of frames that nobody wants: they don't count as dropped.
    private mutating func release(_ count: Int) {
        byteCount -= frames[..<count].reduce(0) { $0 + $1.data.count }
        released += frames[..<count]
        frames.removeFirst(count)
        recordedCount = max(0, recordedCount - count)
        if frames.isEmpty { awaitsKeyFrame = true }
    }

    /// The frames that were dropped since the last call.
    mutating func takeReleased() -> [AssembledFrame] {
        defer { released = [] }
        return released
    }

    /// What comes until the next key frame is of no use.
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

    /// The program knows of the video. To be repeated while it returns a kept frame, which recorders get.
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

    /// There are sinks, or none. Returns whether a key frame must be requested.
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

    /// Nobody looks: what waits is of no use.
    private mutating func rest() {
        stage = .idle
        statistics.delays.interrupt()
        release(frames.count)
    }

    /// Returns the recorder's number, and whether a key frame must be requested.
    mutating func add(_ recorder: @escaping Recorder.Body) -> (number: Int, needsKeyFrame: Bool) {
        recordersSoFar += 1
        guard stage != .ended else { return (recordersSoFar, false) }
        recorders.append(Recorder(number: recordersSoFar, body: recorder))
        return (recordersSoFar, stage == .idle || stage == .decoding || recordedCount > 0)
    }

    mutating func removeRecorder(_ number: Int) { recorders.removeAll { $0.number == number } }

    /// Frames that arrive while it is paused are skipped. Returns whether a key frame must be requested.
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

    /// Nothing more is taken. What waits for the decoder is still decoded.
    mutating func finish() {
        guard stage != .ended else { return }
        if stage != .decoding { release(frames.count) }
        stage = .ended
        recorders = []
    }

    // MARK: On the decoder's thread

    /// The next frame to decode; nil if none follows.
    mutating func next() -> Mailbox<VideoInbox>.Found<AssembledFrame?> {
        guard stage == .decoding || stage == .ended else { return .wait(until: nil) }
        guard let frame = frames.first else { return stage == .ended ? .done(nil) : .wait(until: nil) }
        frames.removeFirst()
        byteCount -= frame.data.count
        return .done(frame)
    }

    mutating func didDecode(
        _ frame: AssembledFrame, size: PixelSize, quantizer: Int, from start: Instant, to end: Instant
    ) {
        statistics.framesDecoded += 1
        if frame.isKeyFrame { statistics.keyFramesDecoded += 1 }
        statistics.totalDecodeTime += end - start
        statistics.qpSum += quantizer
        (statistics.frameWidth, statistics.frameHeight) = (size.width, size.height)
        statistics.delays.pictureWasShown(at: end)
    }

    /// A frame did not decode: those that build on it are dropped. Returns whether a key frame must be requested.
    mutating func didNotDecode() -> Bool {
        framesDropped += 1
        let next = frames.firstIndex(where: \.isKeyFrame)
        drop(next ?? frames.count)
        return next == nil && stage == .decoding
    }
}

extension PixelSize {
    /// The size of a key frame, upright; nil for other frames.
    fileprivate init?(of frame: AssembledFrame) {
        guard let size = frame.size else { return nil }
        self =
            frame.quarterTurns % 2 == 0
            ? PixelSize(width: size.width, height: size.height) : PixelSize(width: size.height, height: size.width)
    }
}
