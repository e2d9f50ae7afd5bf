public import RTCShareMedia
import Synchronization

/// Captures a microphone or the audio that the machine plays, through PulseAudio, or PipeWire's replacement of it.
///
/// The audio has 48 kHz and comes in pieces of about 20 ms, with their capture times by the server's latency. Without a
/// named device, the source follows the server's default when that changes. While it has no sinks, it does not record.
///
/// A device is never replaced by one of another kind. If a named device disappears, if a default one disappears or
/// changes its kind, or if the connection to the server is lost, the source is muted, and observers are notified
/// (``CaptureInterruption/audioUnavailable(reason:)``). Audio resumes by itself when the device is available again.
public final class PulseSource: AudioCaptureSource, BroadcastingAudioSource {
    /// The input to record.
    public enum Input: Sendable, Hashable {
        /// A source of the server, mono; nil is the default one. A sink's monitor is not a microphone.
        case microphone(device: String?)
        /// The audio that a sink of the server plays, stereo; nil is the default one.
        case system(sink: String?)
    }

    /// 48 kHz; a microphone is speech, in mono.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()
    private let capture: PulseCapture

    /// Asks `server` (in the form of `PULSE_SERVER`; nil for the session's) for the device. Throws if a named device is
    /// missing, with the existing ones. Without a default device the source waits for one. Waits at most five seconds
    /// for the server.
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

    /// The number of gaps, because audio was not fetched in time or the device paused.
    public var overruns: Int { capture.measurements.overruns.load(ordering: .relaxed) }

    /// Starts to record.
    public func start() throws {
        let capture = capture
        try thread.start { signal in
            capture.broadcaster.start()
            capture.run(until: signal)
            signal.finish()
            capture.broadcaster.end(error: nil)
        }
    }

    /// Stops capture and notifies the sinks.
    public func stop() { thread.stop() }
}

extension PulseSource.Input {
    fileprivate var isNamed: Bool {
        switch self {
        case .microphone(let name), .system(let name): name != nil
        }
    }

    /// The format: a microphone is speech, in mono.
    fileprivate var format: AudioFormat {
        switch self {
        case .microphone: AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 1, isVoice: true)
        case .system: AudioFormat(sampleRate: PulseRecording.sampleRate, channels: 2)
        }
    }
}
