/// Takes sound. Called on the source's own thread: it hands over and returns, it never waits.
public protocol AudioSink: AnyObject, Sendable {
    /// Takes the next block.
    func receive(_ frame: AudioFrame)
    /// No block will follow; `error` says why where that was not asked for.
    func sourceDidEnd(error: (any Error)?)
    /// The source holds its sound back, or gives it again.
    func muteDidChange(_ isMuted: Bool)
}

extension AudioSink {
    /// Ignores the end.
    public func sourceDidEnd(error: (any Error)?) {}
    /// Ignores the mute.
    public func muteDidChange(_ isMuted: Bool) {}
}

/// Gives sound to any number of sinks. A sink that was removed gets nothing more.
public protocol AudioSource: AnyObject, Sendable {
    /// Gives `sink` every block from now on.
    func add(_ sink: any AudioSink)
    /// Gives `sink` no further block; one that it is taking on another thread at this moment is its last.
    func remove(_ sink: any AudioSink)
}

/// A source that has to be started: a microphone, a file, a generator. It runs on a thread of its own.
public protocol AudioCaptureSource: AudioSource {
    /// What the blocks are, known once the source was opened.
    var audioFormat: AudioFormat { get }
    /// Begins to give blocks.
    func start() throws
    /// Ends it, and returns when its thread has ended. Can be called at any time, more than once.
    func stop()
    /// Tells `observer` how capture goes from now on.
    func add(observer: any CaptureSourceObserver)
    /// Tells `observer` nothing more.
    func remove(observer: any CaptureSourceObserver)
}

extension AudioCaptureSource {
    /// The events of the capture from now on, up to its end. Each call gives a sequence of its own, for one reader; for a slow
    /// one, the newest are kept.
    public var events: AsyncStream<CaptureEvent> { CaptureEvent.stream { add(observer: $0) } }
}

/// What an audio source gives.
public struct AudioFormat: Sendable, Hashable {
    /// Samples a second of each channel.
    public let sampleRate: Int
    /// 1 for mono, 2 for stereo.
    public let channels: Int
    /// Whether it is speech, as of a microphone, and not whatever a machine plays: decides how it is encoded.
    public let isVoice: Bool

    /// Sound at `sampleRate`.
    public init(sampleRate: Int, channels: Int, isVoice: Bool = false) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.isVoice = isVoice
    }
}

/// A source that keeps its sinks in an ``AudioBroadcaster``, and needs no more than that to be a source.
public protocol BroadcastingAudioSource: AudioSource {
    /// The sinks and observers. The source gives it each block.
    var broadcaster: AudioBroadcaster { get }
}

extension BroadcastingAudioSource {
    /// Gives `sink` every block from now on.
    public func add(_ sink: any AudioSink) { broadcaster.add(sink) }

    /// Gives `sink` no further block.
    public func remove(_ sink: any AudioSink) { broadcaster.remove(sink) }

    /// Tells `observer` how capture goes from now on.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }
}
