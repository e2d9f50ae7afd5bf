public import FoundationEssentials
import RTCShareCapture
public import RTCShareMedia
import Synchronization

/// Captures the frames of another process: the receiving side of a connection between a capturing and a sharing
/// process.
///
/// It waits for a capturing process, admits it if each knows the other's token, and sends its frames. While none is
/// connected, the source is muted, so that viewers see the last frame as paused; before the first connection they see a
/// slate. A capturing process that ends or crashes can reconnect. If its source has ended, this source ends, too.
public final class BroadcastSource: CaptureSource, BroadcastingVideoSource {
    /// The size of the slate before the first frame, and the maximum frame rate.
    public let captureFormat: CaptureFormat
    /// The address at which it waits, with the port that the system chose if it was 0.
    public var endpoint: BroadcastEndpoint { listener.endpoint }
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .detail)
    /// The audio of the shared content.
    public let sound = BroadcastAudioSource(AudioFormat(sampleRate: 48_000, channels: 2))
    /// The audio of the capturing process's microphone.
    public let microphone = BroadcastAudioSource(AudioFormat(sampleRate: 48_000, channels: 1, isVoice: true))
    private let listener: BroadcastListener
    private let tokens: BroadcastTokens
    private let wake: WakeEvent
    private let thread = CaptureThread()
    private let observers = ObserverList<any BroadcastObserver>()

    /// Listens at `endpoint`; capturing processes are admitted after the start. Throws
    /// ``BroadcastError/listen(_:remedy:)`` if it can't listen.
    public init(
        endpoint: BroadcastEndpoint, tokens: BroadcastTokens, framesPerSecond: Double = 30,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(BroadcastError) {
        listener = try BroadcastListener(endpoint, environment: environment)
        wake = try WakeEvent()
        self.tokens = tokens
        captureFormat = CaptureFormat(size: Slate.defaultSize, framesPerSecond: framesPerSecond)
    }

    /// Adds an observer of connections.
    public func add(broadcastObserver observer: any BroadcastObserver) { observers.add(observer) }

    /// Removes an observer.
    public func remove(broadcastObserver observer: any BroadcastObserver) { observers.remove(observer) }

    /// Adds a sink, which receives the newest frame at once, and every later frame.
    public func add(_ sink: any VideoSink) {
        broadcaster.add(sink)
        wake.signal()
    }

    /// Starts to admit capturing processes.
    public func start() throws {
        let (broadcaster, listener, tokens, wake) = (broadcaster, listener, tokens, wake)
        let (sound, microphone, observers) = (sound, microphone, observers)
        try thread.start { signal in
            broadcaster.start()
            let receiver = BroadcastReceiver(
                listener: listener, tokens: tokens, wake: wake, broadcaster: broadcaster, sound: sound,
                microphone: microphone, observers: observers)
            let failure = receiver.run(until: signal)
            signal.finish()
            broadcaster.end(error: failure)
            sound.end(error: failure)
            microphone.end(error: failure)
        }
    }

    /// Stops capture, and notifies the capturing process that it is not needed any more.
    public func stop() { thread.stop() }
}
