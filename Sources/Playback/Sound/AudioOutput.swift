internal import RTCShareAudioCoding
public import RTCShareCapture
internal import RTCShareLocks
public import RTCShareMedia

/// Plays audio through the default output of the sound server, PulseAudio or PipeWire.
///
/// It knows when its audio is heard, as exactly as the server: frames of a ``VideoView`` that is synchronized with it
/// are shown then. The first block connects to the server. If there is no server, or the connection is lost, it retries
/// every five seconds.
public final class AudioOutput: AudioSink {
    /// The counts of playback.
    public struct Statistics: Sendable, Hashable {
        /// The number of samples of each channel, at 48 kHz, that were given to the server.
        public internal(set) var samplesPlayed = 0
        /// The total time between the delivery of samples to the server and their playout: see W3C webrtc-stats,
        /// `totalPlayoutDelay`.
        public internal(set) var totalPlayoutDelay = Duration.zero
        /// The number of interruptions, because there was nothing to play in time.
        public internal(set) var breaks = 0
        /// The number of samples of each channel that were left out or repeated, because the device has a different
        /// clock.
        public internal(set) var samplesCorrected = 0
        /// The time at which the sender captured the next sample, by its own clock, which is heard at ``heardTime`` by
        /// the local one.
        public internal(set) var captureTime: Duration?
        /// The time at which the newest sample is heard, since the start of the monotonic clock.
        public internal(set) var heardTime: Duration?
    }

    private struct State {
        var waiting: [AudioFrame] = []
        var isMuted = false
        var isEnded = false
        var lipSync = LipSync()
        var jitterBufferTarget = Duration.zero
        var statistics = Statistics()
        /// Makes the thread process waiting blocks; nil while there is no connection.
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

    /// The maximum number of blocks that wait while nothing is played, a fifth of a second of 20 ms each. Older ones
    /// are dropped.
    private static let capacity = 10
    private static let pause = Duration.seconds(5)
    /// The threshold of silence, -60 dB.
    private static let audible: Float = 0.001

    /// Creates an output that plays the audio it receives.
    public convenience init(
        name: String, server: String? = nil, onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.init(name: name, server: server, onFailure: onFailure, onTarget: { _ in })
    }

    /// Does the same. `onTarget` receives the minimum delay of audio in its jitter buffer that keeps video from being
    /// late.
    init(
        name: String, server: String?, onFailure: @escaping @Sendable (CaptureError) -> Void,
        onTarget: @escaping @Sendable (Duration) -> Void
    ) {
        self.name = name
        self.server = server
        self.onFailure = onFailure
        self.onTarget = onTarget
    }

    /// Whether silence is played instead of the received audio.
    public var isMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set { state.withLock { $0.isMuted = newValue } }
    }

    /// The counts of playback so far.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Plays a block.
    public func receive(_ frame: AudioFrame) {
        let starts = state.withLock { state in
            guard !state.isEnded else { return false }
            if state.waiting.count >= Self.capacity { state.waiting.removeFirst() }
            state.waiting.append(frame)
            // This only writes to a pipe, which exists while the lock is held.
            state.wakening?()
            guard !state.isRunning, state.nextTry.map({ monotonicNow() >= $0 }) ?? true else { return false }
            state.isRunning = true
            return true
        }
        if starts { start() }
    }

    /// Stops playback for good. A source whose capture has stopped, and not started again, calls this at once.
    public func sourceDidEnd(error: (any Error)?) { stop() }

    /// Stops playback, and disconnects from the server.
    public func stop() {
        state.withLock { $0.isEnded = true }
        thread.stop()
    }

    /// Returns the time to show a frame that has arrived now and was captured at `captureTime` on the sender's clock.
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

    /// Plays on the thread to which all objects of libpulse are confined.
    private static func run(
        name: String, server: String?, _ signal: StopSignal, output: () -> AudioOutput?
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
            // The output was released: nobody can deliver audio to it, or stop it.
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

    /// Returns the audio in the stream's format. Received audio already has its rate.
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

    /// Returns the block's samples, with some left out or repeated if the device's clock requires it.
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
