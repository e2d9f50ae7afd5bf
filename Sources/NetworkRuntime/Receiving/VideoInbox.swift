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
    /// How many of the kept frames the recorders have.
    private var recordedCount = 0
    /// Whether frames are dropped until one decodes without another.
    private var awaitsKeyFrame = true
    private var isPaused = false
    private var size: PixelSize?
    private var sinks: Set<ObjectIdentifier> = []
    private var recorders: [Recorder] = []
    private var hasDecoder = false

    /// A decoder that falls this far behind continues at the next key frame.
    static let maximumFrames = 60
    /// The same in bytes, whatever the frames' sizes are.
    static let maximumBytes = 16 << 20

    /// The counts of the decoder; nil if nothing is decoded.
    var decoderStatistics: VideoDecoderStatistics? {
        stage == .decoding || stage == .ended && hasDecoder ? statistics : nil
    }

    // MARK: On the connection's event loop

    mutating func receive(_ frame: AssembledFrame) -> Reception {
        var reception: Reception = (nil, [], false)
        switch stage {
        case .ended: return reception
        case .unannounced where !frame.isKeyFrame:
            framesDropped += 1
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
        frames.removeFirst(count)
        recordedCount = max(0, recordedCount - count)
        if frames.isEmpty { awaitsKeyFrame = true }
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
        if sinks.isEmpty { rest() }
        return nil
    }

    /// A sink more; nil if there is nothing for it any more.
    mutating func add(_ sink: ObjectIdentifier) -> (startsDecoder: Bool, needsKeyFrame: Bool)? {
        guard stage != .ended else { return nil }
        sinks.insert(sink)
        let isLate = stage == .idle
        if isLate { stage = .decoding }
        defer { hasDecoder = true }
        return (!hasDecoder, isLate && !isPaused)
    }

    /// The decoder did not start: no sink gets anything.
    mutating func decoderFailed() {
        hasDecoder = false
        removeSinks()
    }

    mutating func remove(_ sink: ObjectIdentifier) {
        sinks.remove(sink)
        if sinks.isEmpty, stage == .decoding { rest() }
    }

    mutating func removeSinks() {
        sinks = []
        if stage == .decoding { rest() }
    }

    /// Nobody looks: what waits is of no use.
    private mutating func rest() {
        stage = .idle
        statistics.delays.interrupt()
        release(frames.count)
    }

    /// Returns whether a key frame must be requested.
    mutating func add(_ recorder: @escaping Recorder.Body) -> Bool {
        guard stage != .ended else { return false }
        recorders.append(Recorder(body: recorder))
        return stage == .idle || stage == .decoding || recordedCount > 0
    }

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
        sinks = []
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
