/// A receiver of audio. The source calls it on its own thread, so its methods must return without waiting.
public protocol AudioSink: AnyObject, Sendable {
    /// Receives the next block.
    func receive(_ frame: AudioFrame)
    /// Called when no block will follow, unless the source is started again; `error` is the reason, or nil if the end
    /// was requested.
    func sourceDidEnd(error: (any Error)?)
    /// Called when the source is muted or unmuted.
    func muteDidChange(_ isMuted: Bool)
}

extension AudioSink {
    /// Ignores the end.
    public func sourceDidEnd(error: (any Error)?) {}
    /// Ignores the mute.
    public func muteDidChange(_ isMuted: Bool) {}
}

/// A source of audio for any number of sinks. A removed sink receives nothing more.
public protocol AudioSource: AnyObject, Sendable {
    /// Adds a sink, which receives every later block.
    func add(_ sink: any AudioSink)
    /// Removes a sink, which receives no later block, except one that another thread is passing to it now.
    func remove(_ sink: any AudioSink)
}

/// A source that must be started: a microphone, a file, a generator. It runs on a thread of its own.
public protocol AudioCaptureSource: AudioSource, ObservableCapture {
    /// The format of the blocks, known when the source is open.
    var audioFormat: AudioFormat { get }
    /// Starts the delivery of blocks.
    func start() throws
    /// Stops capture, and returns when its thread has ended. You can call it at any time, more than once.
    func stop()
}

/// The format of an audio source.
public struct AudioFormat: Sendable, Hashable {
    /// The number of samples per second of each channel.
    public let sampleRate: Int
    /// The number of channels: 1 for mono, 2 for stereo.
    public let channels: Int
    /// Whether it is speech, such as that of a microphone, and not the machine's playback. It determines the encoding.
    public let isVoice: Bool

    /// Creates the format of audio at `sampleRate`.
    public init(sampleRate: Int, channels: Int, isVoice: Bool = false) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.isVoice = isVoice
    }
}

/// A source that keeps its sinks in an ``AudioBroadcaster``, and needs nothing else to be a source.
public protocol BroadcastingAudioSource: AudioSource {
    /// The sinks and observers, to which the source passes each block.
    var broadcaster: AudioBroadcaster { get }
}

extension BroadcastingAudioSource {
    /// Adds a sink, which receives every later block.
    public func add(_ sink: any AudioSink) { broadcaster.add(sink) }

    /// Removes a sink.
    public func remove(_ sink: any AudioSink) { broadcaster.remove(sink) }

    /// Adds an observer of capture.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Removes an observer.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }
}
