import RTCShareLocks
public import RTCShareMedia
import Synchronization

/// Gives what a microphone hears or what the machine plays, from PulseAudio, or PipeWire where it speaks for it.
///
/// At 48 kHz in pieces of about 20 ms, stamped with when they were taken, by what the server says of its latency. Where
/// no device is named, the server's default is followed when it becomes another. While it has no sinks, nothing is recorded.
public final class PulseSource: AudioCaptureSource, BroadcastingAudioSource {
    /// What to record.
    public enum Input: Sendable, Hashable {
        /// A source of the server, mono; nil is the default one.
        case microphone(device: String?)
        /// What a sink of the server plays, stereo; nil is the default one.
        case system(sink: String?)
    }

    /// 48 kHz; a microphone is speech, in mono.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let server: String?
    private let device: String
    private let followsDefault: Bool
    private let thread = CaptureThread()
    private let measurements = Measurements()

    /// For how many seconds it goes on without sinks: a headset takes its time to begin.
    private static let patience = 2

    /// What the thread tells of itself.
    private final class Measurements: Sendable {
        let overruns = Atomic(0)
        let latency = Locked<Duration?>(nil)
    }

    /// Asks `server` (as `PULSE_SERVER` names one; nil: the session's) for the device; what is not there throws, and says
    /// what is. Waits for the server five seconds at most.
    public init(_ input: Input, server: String? = nil) throws(CaptureError) {
        self.server = server
        let session = try PulseSession(server: server, signal: nil)
        _ = try session.connect()
        switch input {
        case .microphone(let name):
            // Without a signal there is always an answer.
            let sources = try session.sources() ?? []
            guard name.map({ name in sources.contains { $0.name == name } }) ?? !sources.isEmpty else {
                throw .unknownSoundDevice(name: name, kind: .source, devices: sources.map(\.name))
            }
            device = name ?? "@DEFAULT_SOURCE@"
            followsDefault = name == nil
            audioFormat = AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 1, isVoice: true)
        case .system(let name):
            let sinks = try session.sinks() ?? []
            let sink = name.map { name in sinks.first { $0.name == name } } ?? sinks.first
            guard let monitor = sink?.monitor else {
                throw .unknownSoundDevice(name: name, kind: .sink, devices: sinks.map(\.name))
            }
            device = name == nil ? "@DEFAULT_MONITOR@" : monitor
            followsDefault = name == nil
            audioFormat = AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 2)
        }
    }

    /// How often sound was lost, as it was not fetched in time or the device paused.
    public var overruns: Int { measurements.overruns.load(ordering: .relaxed) }

    /// How long after it was taken the newest sound was given; nil before there was any.
    public var latency: Duration? { measurements.latency.withLock { $0 } }

    /// Begins to record. That the server or the device is there no more is told to sinks and observers.
    public func start() throws {
        let (server, device, followsDefault) = (server, device, followsDefault)
        let (format, broadcaster, measurements) = (audioFormat, broadcaster, measurements)
        // Everything of libpulse's lives and ends in here, on the thread: who rests holds no device.
        let record: @Sendable (StopSignal) throws(CaptureError) -> Void = { signal throws(CaptureError) in
            let session = try PulseSession(server: server, signal: signal)
            guard try session.connect() else { return }
            let recording = try PulseRecording(session: session, device: device, channels: format.channels)
            guard try recording.begin() else { return }
            if followsDefault {
                guard try recording.followDefault() else { return }
            }
            try Self.relay(recording, format: format, measurements: measurements, to: broadcaster)
        }
        try thread.start { signal in
            broadcaster.start()
            broadcaster.whenWanted { [weak signal] in signal?.wake() }
            var failure: CaptureError?
            do throws(CaptureError) {
                while !signal.isRaised {
                    try record(signal)
                    signal.rest { !broadcaster.hasSinks }
                }
            } catch {
                failure = error
            }
            signal.finish()
            broadcaster.end(error: failure)
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }

    /// Gives what is recorded until the signal is raised, or nobody has wanted it for a while.
    private static func relay(
        _ recording: PulseRecording, format: AudioFormat, measurements: Measurements, to broadcaster: AudioBroadcaster
    ) throws(CaptureError) {
        var clock = RecordingClock(sampleRate: format.sampleRate)
        var holes = 0
        let lostBefore = measurements.overruns.load(ordering: .relaxed)
        var unheard = 0
        while unheard < patience * format.sampleRate, try recording.waitForSound() {
            while let piece = try recording.next() {
                switch piece {
                case .hole(let sampleCount):
                    holes += 1
                    clock.skip(sampleCount: sampleCount)
                case .samples(let samples, let time):
                    let now = monotonicNow()
                    // What was given was taken, whatever the server says.
                    let timestamp = clock.timestamp(
                        sampleCount: samples.count / format.channels, measured: min(time, now))
                    measurements.latency.withLock { $0 = now - timestamp }
                    unheard = broadcaster.hasSinks ? 0 : unheard + samples.count / format.channels
                    broadcaster.send(
                        AudioFrame(
                            samples: samples, channels: format.channels, sampleRate: format.sampleRate,
                            timestamp: timestamp))
                }
                measurements.overruns.store(lostBefore + holes + clock.discontinuities, ordering: .relaxed)
            }
        }
    }
}
