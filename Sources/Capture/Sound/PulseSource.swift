public import RTCShareMedia
import Synchronization

/// Gives what a microphone hears or what the machine plays, from PulseAudio, or PipeWire where it speaks for it.
///
/// At 48 kHz in pieces of about 20 ms, stamped with when they were taken, by what the server says of its latency. Where
/// no device is named, the server's default is followed when it becomes another. While it has no sinks, nothing is recorded.
///
/// A device is never replaced by one of another kind. A named device that goes, a default that goes or becomes one of the
/// other kind, a server that is lost: meanwhile the source is muted, and observers are told
/// (``CaptureInterruption/soundAway(reason:)``). Sound continues by itself once the device is back.
public final class PulseSource: AudioCaptureSource, BroadcastingAudioSource {
    /// What to record.
    public enum Input: Sendable, Hashable {
        /// A source of the server, mono; nil is the default one. What a sink plays is not a microphone.
        case microphone(device: String?)
        /// What a sink of the server plays, stereo; nil is the default one.
        case system(sink: String?)
    }

    /// 48 kHz; a microphone is speech, in mono.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()
    private let capture: PulseCapture

    /// Asks `server` (as `PULSE_SERVER` names one; nil: the session's) for the device; a named one that is not there throws,
    /// and says what is. Without a default device the source waits for one. Waits for the server five seconds at most.
    public convenience init(_ input: Input, server: String? = nil) throws(CaptureError) {
        try self.init(input, server: server, patience: PulseCapture.Patience())
    }

    init(_ input: Input, server: String?, patience: PulseCapture.Patience) throws(CaptureError) {
        let session = try PulseSession(server: server, signal: nil)
        _ = try session.connect()
        // Without a signal there is always an answer.
        if let devices = try session.devices(), input.isNamed { _ = try devices.source(for: input) }
        audioFormat = input.format
        capture = PulseCapture(
            input: input, server: server, format: input.format, broadcaster: broadcaster, patience: patience)
    }

    /// How often sound was lost, as it was not fetched in time or the device paused.
    public var overruns: Int { capture.measurements.overruns.load(ordering: .relaxed) }

    /// Begins to record.
    public func start() throws {
        let capture = capture
        try thread.start { signal in
            capture.broadcaster.start()
            capture.run(until: signal)
            signal.finish()
            capture.broadcaster.end(error: nil)
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}

extension PulseSource.Input {
    fileprivate var isNamed: Bool {
        switch self {
        case .microphone(let name), .system(let name): name != nil
        }
    }

    /// A microphone is speech, in mono.
    fileprivate var format: AudioFormat {
        switch self {
        case .microphone: AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 1, isVoice: true)
        case .system: AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 2)
        }
    }
}
