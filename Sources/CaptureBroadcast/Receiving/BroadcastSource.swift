public import FoundationEssentials
internal import Glibc
import RTCShareCapture
public import RTCShareMedia
import Synchronization

/// Gives the pictures of another process, the extension: the app's side of a broadcast.
///
/// It waits for an extension, lets it in if each knows the other's token, and gives what comes. While no extension is
/// there, sinks are muted, so that viewers see the last picture as paused; before the first came, a picture that says so.
/// An extension that ends by itself, or is killed, can come again; one whose source has ended ends this source, too.
public final class BroadcastSource: CaptureSource, BroadcastingVideoSource {
    /// The size of the picture that stands in for what comes later, and the most frames a second.
    public let captureFormat: CaptureFormat
    /// Where it waits for extensions: with the port that the system picked, where that was left to it.
    public var endpoint: BroadcastEndpoint { listener.endpoint }
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .detail)
    /// The sound of what is shared.
    public let sound = BroadcastSound(AudioFormat(sampleRate: 48_000, channels: 2))
    /// The sound of the extension's microphone.
    public let microphone = BroadcastSound(AudioFormat(sampleRate: 48_000, channels: 1, isVoice: true))
    private let listener: BroadcastListener
    private let tokens: BroadcastTokens
    private let wake: WakeEvent
    private let thread = CaptureThread()
    private let observers = ObserverList<any BroadcastObserver>()

    /// Listens at `endpoint`; extensions that come are let in once it is started. Throws ``BroadcastError/listen(_:remedy:)``
    /// where it can't.
    public init(
        endpoint: BroadcastEndpoint, tokens: BroadcastTokens, framesPerSecond: Double = 30,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(BroadcastError) {
        listener = try BroadcastListener(endpoint, environment: environment)
        wake = try WakeEvent()
        self.tokens = tokens
        captureFormat = CaptureFormat(size: Slate.defaultSize, framesPerSecond: framesPerSecond)
    }

    /// Tells `observer` of extensions from now on.
    public func add(broadcastObserver observer: any BroadcastObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(broadcastObserver observer: any BroadcastObserver) { observers.remove(observer) }

    /// Gives `sink` every frame from now on, and at once the newest.
    public func add(_ sink: any VideoSink) {
        broadcaster.add(sink)
        wake.signal()
    }

    /// Begins to let extensions in.
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

    /// Ends it, and tells the extension that nobody needs it any more.
    public func stop() { thread.stop() }
}

/// Hears of extensions that come and go, one call after the other.
public protocol BroadcastObserver: AnyObject, Sendable {
    /// An extension was let in; its pictures follow.
    func broadcastDidStart(transport: BroadcastTransport)
    /// The extension is gone: why, for a person. Another can come.
    func broadcastDidFinish(reason: String)
    /// An extension was not let in.
    func broadcastDidFail(error: BroadcastError)
}

extension BroadcastObserver {
    /// Does nothing.
    public func broadcastDidStart(transport: BroadcastTransport) {}
    /// Does nothing.
    public func broadcastDidFinish(reason: String) {}
    /// Does nothing.
    public func broadcastDidFail(error: BroadcastError) {}
}

/// A sound of a ``BroadcastSource``, given while it is started.
public final class BroadcastSound: AudioCaptureSource, BroadcastingAudioSource {
    /// What most extensions give; each block says what it is.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let isStarted = Atomic(false)

    init(_ format: AudioFormat) {
        audioFormat = format
    }

    /// Begins to give blocks.
    public func start() throws {
        if !isStarted.exchange(true, ordering: .relaxed) { broadcaster.start() }
    }

    /// Gives none any more.
    public func stop() { end(error: nil) }

    func receive(_ frame: AudioFrame) {
        guard isStarted.load(ordering: .relaxed) else { return }
        broadcaster.isMuted = false
        broadcaster.send(frame)
    }

    /// Says that no sound comes for now.
    func pause() { broadcaster.isMuted = true }

    func end(error: (any Error)?) {
        if isStarted.exchange(false, ordering: .relaxed) { broadcaster.end(error: error) }
    }
}
