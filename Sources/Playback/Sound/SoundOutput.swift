internal import RTCShareAudioCoding
public import RTCShareCapture
internal import RTCShareLocks
public import RTCShareMedia

/// Plays sound through the sound server's default output, PulseAudio's or PipeWire's.
///
/// It knows when what it plays is heard, to the millisecond as the server knows it: pictures of a ``VideoView`` that follows
/// it are seen then. With the first block it connects to the server; where there is none, or it goes away, it tries again
/// every five seconds.
public final class SoundOutput: AudioSink {
    /// What was played.
    public struct Statistics: Sendable, Hashable {
        /// Samples of each channel, at 48 kHz, that were given to the server.
        public internal(set) var samplesPlayed = 0
        /// From being given to the server until they are heard, of all of them together: see W3C webrtc-stats,
        /// `totalPlayoutDelay`.
        public internal(set) var totalPlayoutDelay = Duration.zero
        /// How often there was nothing to play in time, so that the sound broke off.
        public internal(set) var breaks = 0
        /// Samples of each channel that were left out or played twice, as the device's clock is another one.
        public internal(set) var samplesCorrected = 0
        /// When the sender took the sample that is given next, by its own clock, and when that is heard by ours.
        public internal(set) var captureTime: Duration?
        /// When the newest sample is heard, since the start of the monotonic clock.
        public internal(set) var heardTime: Duration?
    }

    private struct State {
        var waiting: [AudioFrame] = []
        var isMuted = false
        var isEnded = false
        var lipSync = LipSync()
        var jitterBufferTarget = Duration.zero
        var statistics = Statistics()
        /// Has the thread look at what waits; nil while there is no connection.
        var wakening: (@Sendable () -> Void)?
        var isRunning = false
        var nextTry: Duration?
        var hasFailed = false
    }

    private let name: String
    private let server: String?
    private let onFailure: @Sendable (CaptureError) -> Void
    private let onTarget: @Sendable (Duration) -> Void
    private let state = Locked(State())
    private let thread = CaptureThread()

    /// What comes while nothing is played; older sound is nobody's any more. In blocks of 20 ms, a fifth of a second.
    private static let capacity = 10
    private static let pause = Duration.seconds(5)
    /// Below -60 dB it is silence.
    private static let audible: Float = 0.001

    /// An output that plays what it is given.
    /// - Parameters:
    ///   - name: What the server's mixer calls the sound.
    ///   - server: The server, as `PULSE_SERVER` names one; nil: the session's.
    ///   - onFailure: Called once where nothing can be played, and again after it could be meanwhile.
    public convenience init(
        name: String, server: String? = nil, onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.init(name: name, server: server, onFailure: onFailure, onTarget: { _ in })
    }

    /// The same; `onTarget` is told how long sound should wait in its jitter buffer so that pictures are not behind it.
    init(
        name: String, server: String?, onFailure: @escaping @Sendable (CaptureError) -> Void,
        onTarget: @escaping @Sendable (Duration) -> Void
    ) {
        self.name = name
        self.server = server
        self.onFailure = onFailure
        self.onTarget = onTarget
    }

    /// Whether silence is played in place of what comes.
    public var isMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set { state.withLock { $0.isMuted = newValue } }
    }

    /// What was played so far.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Takes sound.
    public func receive(_ frame: AudioFrame) {
        let starts = state.withLock { state in
            guard !state.isEnded else { return false }
            if state.waiting.count >= Self.capacity { state.waiting.removeFirst() }
            state.waiting.append(frame)
            // It does no more than write to a pipe, and under the lock what it writes to is there.
            state.wakening?()
            guard !state.isRunning, state.nextTry.map({ monotonicNow() >= $0 }) ?? true else { return false }
            state.isRunning = true
            return true
        }
        if starts { start() }
    }

    /// Plays nothing more.
    public func sourceDidEnd(error: (any Error)?) { stop() }

    /// Plays nothing more, and lets go of the server.
    public func stop() {
        state.withLock { $0.isEnded = true }
        thread.stop()
    }

    /// When a picture that has come now, and was taken at `captureTime` on the sender's clock, is to be shown.
    func due(captureTime: Duration?, now: Duration) -> Duration {
        guard let captureTime else { return now }
        let (due, target) = state.withLock { state -> (Duration, Duration?) in
            let due = state.lipSync.due(captureTime: captureTime, now: now)
            let target = state.lipSync.jitterBufferTarget
            guard target != state.jitterBufferTarget else { return (due, nil) }
            state.jitterBufferTarget = target
            return (due, target)
        }
        if let target { onTarget(target) }
        return due
    }

    private func start() {
        do throws(CaptureError) {
            try thread.start { [weak self, name, server] signal in
                var failure: CaptureError?
                do throws(CaptureError) {
                    try Self.run(name: name, server: server, signal) { self }
                } catch {
                    failure = error
                }
                signal.finish()
                self?.hasEnded(failure)
            }
        } catch {
            hasEnded(error)
        }
    }

    private func hasEnded(_ failure: CaptureError?) {
        let isNews = state.withLock { state in
            state.isRunning = false
            guard failure != nil else { return false }
            state.nextTry = monotonicNow() + Self.pause
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if let failure, isNews { onFailure(failure) }
    }

    /// Everything of libpulse's lives and ends in here, on the thread.
    private static func run(
        name: String, server: String?, _ signal: StopSignal, output: () -> SoundOutput?
    ) throws(CaptureError) {
        let session = try PulseSession(server: server, signal: signal)
        guard try session.connect() else { return }
        let playback = try PulsePlayback(session: session, name: name)
        guard try playback.begin() else { return }
        output()?.state.withLock { state in
            state.wakening = session.wakening
            state.hasFailed = false
        }
        defer {
            output()?.state.withLock { $0.wakening = nil }
            withExtendedLifetime(session) {}
        }
        let conformer = AudioConformer(
            sampleRate: PulsePlayback.sampleRate, channels: PulsePlayback.channels, sampleCount: 960)
        var queue = PlayoutQueue()
        var seen = (answers: 0, underflows: 0)
        while try playback.wait(until: { output()?.hasSound ?? true }) {
            // Nobody gives anything any more, or can stop it.
            guard let output = output() else { return }
            if playback.underflows != seen.underflows { queue.brokeOff() }
            if playback.answers != seen.answers, let timing = playback.timing, queue.measured(timing.queued) {
                playback.dropQueue()
            }
            seen = (playback.answers, playback.underflows)
            while let frame = output.take() {
                for block in Self.conformed(frame, by: conformer) { try output.play(block, &queue, through: playback) }
            }
        }
    }

    /// The sound as the stream has it. Received sound has its rate already.
    private static func conformed(_ frame: AudioFrame, by conformer: AudioConformer) -> [AudioFrame] {
        guard frame.sampleRate != PulsePlayback.sampleRate else {
            return [frame.mixed(toChannels: PulsePlayback.channels)]
        }
        return conformer.process(frame).map(\.frame)
    }

    private var hasSound: Bool { state.withLock { !$0.waiting.isEmpty } }

    private func take() -> AudioFrame? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let frame = state.waiting.removeFirst()
            return state.isMuted ? frame.scaled(by: 0) : frame
        }
    }

    private func play(
        _ frame: AudioFrame, _ queue: inout PlayoutQueue, through playback: PulsePlayback
    ) throws(CaptureError) {
        let timing = playback.timing
        let samples = corrected(frame, &queue)
        let now = monotonicNow()
        let isAudible = samples.contains { $0 > Self.audible || $0 < -Self.audible }
        try playback.write(samples)
        state.withLock { state in
            let count = samples.count / PulsePlayback.channels
            state.statistics.samplesPlayed += count
            state.statistics.breaks = playback.underflows
            guard let timing else { return }
            state.statistics.totalPlayoutDelay += (timing.heard - now) * count
            state.statistics.captureTime = frame.captureTime
            state.statistics.heardTime = timing.heard
            guard let captureTime = frame.captureTime else { return }
            state.lipSync.soundPlays(captureTime: captureTime, heard: timing.heard, isAudible: isAudible, now: now)
        }
    }

    /// The block's samples, a period fewer or more where the device's clock makes that necessary.
    private func corrected(_ frame: AudioFrame, _ queue: inout PlayoutQueue) -> [Float] {
        let correction = queue.correction
        if correction > 0,
            let (samples, removed) = TimeScaling.shortened(frame.samples, channels: frame.channels, limit: correction)
        {
            queue.corrected(by: removed)
            state.withLock { $0.statistics.samplesCorrected += removed }
            return samples
        }
        if correction < 0,
            let (samples, added) = TimeScaling.lengthened(frame.samples, channels: frame.channels, limit: -correction)
        {
            queue.corrected(by: -added)
            state.withLock { $0.statistics.samplesCorrected += added }
            return samples
        }
        return frame.samples
    }
}
