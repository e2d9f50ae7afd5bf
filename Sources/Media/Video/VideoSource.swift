/// A receiver of frames. The source calls it on its own thread, so its methods must return without waiting.
public protocol VideoSink: AnyObject, Sendable {
    /// Receives the newest frame.
    func receive(_ frame: VideoFrame)
    /// Called when no frame will follow; `error` is the reason, or nil if the end was requested.
    func sourceDidEnd(error: (any Error)?)
    /// Called with the kind of the source's video when the sink is added, and at each change.
    func contentHintDidChange(_ hint: ContentHint)
    /// Called when the source is muted or unmuted, and when the sink is added to a muted source.
    func muteDidChange(_ isMuted: Bool)
    /// The demand for a frame now. A source that can wait checks it before it creates a frame, and again later if there
    /// is no demand. Other sources send their frames anyway.
    var demand: FrameDemand { get }
}

/// The kind of frames that a sink needs now.
public enum FrameDemand: Int, Sendable, Comparable {
    /// No frame: a newer one would replace it before it is used.
    case nothing
    /// A frame with a change.
    case changes
    /// Any frame, changed or not: the sink has not received the current one yet.
    case picture

    /// Returns whether the first demand is lower.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

extension VideoSink {
    /// The demand for every change.
    public var demand: FrameDemand { .changes }
    /// Ignores the end.
    public func sourceDidEnd(error: (any Error)?) {}
    /// Ignores the hint.
    public func contentHintDidChange(_ hint: ContentHint) {}
    /// Ignores the mute.
    public func muteDidChange(_ isMuted: Bool) {}
}

/// A source of frames for any number of sinks. A removed sink receives nothing more.
///
/// A share adds its sink and removes it on its encoder's thread, soon after it has started or ended, possibly after the
/// call that started or ended it has returned.
public protocol VideoSource: AnyObject, Sendable {
    /// The content hint of the frames.
    var contentHint: ContentHint { get }
    /// Adds a sink, which receives every later frame.
    func add(_ sink: any VideoSink)
    /// Removes a sink, which receives no later frame, except one that another thread is passing to it now.
    func remove(_ sink: any VideoSink)
}

/// A source that keeps its sinks in a ``VideoBroadcaster``, and needs nothing else to be a source.
public protocol BroadcastingVideoSource: VideoSource {
    /// The sinks and observers, to which the source passes each frame.
    var broadcaster: VideoBroadcaster { get }
}

extension BroadcastingVideoSource {
    /// The kind of the video. A change reaches every sink, and so a running encoder.
    public var contentHint: ContentHint {
        get { broadcaster.contentHint }
        set { broadcaster.contentHint = newValue }
    }

    /// Adds a sink, which receives every later frame.
    public func add(_ sink: any VideoSink) { broadcaster.add(sink) }

    /// Removes a sink.
    public func remove(_ sink: any VideoSink) { broadcaster.remove(sink) }

    /// Adds an observer of capture.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Removes an observer.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }
}

/// A source that must be started: a screen, a file, a generator. It runs on a thread of its own.
public protocol CaptureSource: VideoSource, ObservableCapture {
    /// The frames' size and rate, known when the source is open.
    var captureFormat: CaptureFormat { get }
    /// Starts the delivery of frames.
    func start() throws
    /// Stops capture, and returns when its thread has ended. You can call it at any time, more than once.
    func stop()
}

/// The format of a capture source.
public struct CaptureFormat: Sendable, Hashable {
    /// The size in pixels.
    public let size: PixelSize
    /// The maximum number of frames per second.
    public let framesPerSecond: Double

    /// Creates the format of frames of `size`, at most `framesPerSecond`.
    public init(size: PixelSize, framesPerSecond: Double) {
        self.size = size
        self.framesPerSecond = framesPerSecond
    }
}
