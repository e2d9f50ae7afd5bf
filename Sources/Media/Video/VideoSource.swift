/// Takes frames. Called on the source's own thread: it hands over and returns, it never waits.
public protocol VideoSink: AnyObject, Sendable {
    /// Takes the newest frame.
    func receive(_ frame: VideoFrame)
    /// No frame will follow; `error` says why where that was not asked for.
    func sourceDidEnd(error: (any Error)?)
    /// What the source's pictures are: told when the sink is added, and at each change.
    func contentHintDidChange(_ hint: ContentHint)
    /// The source holds its frames back, or gives them again: told when the sink is added to one that is muted, and at
    /// each change.
    func muteDidChange(_ isMuted: Bool)
    /// What a frame given now would be of use for. A source that can wait asks before it makes one, and asks again later
    /// where nobody has a use for it; other sources give their frames all the same.
    var demand: FrameDemand { get }
}

/// What frames a sink has a use for at a moment.
public enum FrameDemand: Int, Sendable, Comparable {
    /// None: it would be replaced by a newer one before anybody looks at it.
    case nothing
    /// One that shows something new.
    case changes
    /// One that shows the picture, new or not: it has not seen it yet.
    case picture

    /// The less that is of use, the smaller.
    public static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

extension VideoSink {
    /// Every change is of use.
    public var demand: FrameDemand { .changes }
    /// Ignores the end.
    public func sourceDidEnd(error: (any Error)?) {}
    /// Ignores the hint.
    public func contentHintDidChange(_ hint: ContentHint) {}
    /// Ignores the mute.
    public func muteDidChange(_ isMuted: Bool) {}
}

/// Gives frames to any number of sinks. A sink that was removed gets nothing more.
///
/// A share adds its sink and removes it on its encoder's thread, soon after it began or ended: also after the call that began
/// or ended it has returned.
public protocol VideoSource: AnyObject, Sendable {
    /// The content hint of the frames.
    var contentHint: ContentHint { get }
    /// Adds a sink, which receives every later frame.
    func add(_ sink: any VideoSink)
    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    func remove(_ sink: any VideoSink)
}

/// A source that keeps its sinks in a ``VideoBroadcaster``, and needs no more than that to be a source.
public protocol BroadcastingVideoSource: VideoSource {
    /// The sinks and observers. The source gives it each frame.
    var broadcaster: VideoBroadcaster { get }
}

extension BroadcastingVideoSource {
    /// What the pictures are; a change reaches every sink, and so a running encoder.
    public var contentHint: ContentHint {
        get { broadcaster.contentHint }
        set { broadcaster.contentHint = newValue }
    }

    /// Adds a sink, which receives every later frame.
    public func add(_ sink: any VideoSink) { broadcaster.add(sink) }

    /// Gives `sink` no further frame.
    public func remove(_ sink: any VideoSink) { broadcaster.remove(sink) }

    /// Tells `observer` how capture goes from now on.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }
}

/// A source that has to be started: a screen, a file, a generator. It runs on a thread of its own.
public protocol CaptureSource: VideoSource {
    /// The pictures' size and rate, known once the source was opened.
    var captureFormat: CaptureFormat { get }
    /// Begins to give frames.
    func start() throws
    /// Ends it, and returns when its thread has ended. Can be called at any time, more than once.
    func stop()
    /// Tells `observer` how capture goes from now on.
    func add(observer: any CaptureSourceObserver)
    /// Tells `observer` nothing more.
    func remove(observer: any CaptureSourceObserver)
}

extension CaptureSource {
    /// The events of the capture from now on, up to its end. Each call gives a sequence of its own, for one reader; for a slow
    /// one, the newest are kept.
    public var events: AsyncStream<CaptureEvent> { CaptureEvent.stream { add(observer: $0) } }
}

/// What a capture source gives.
public struct CaptureFormat: Sendable, Hashable {
    /// Columns and rows.
    public let size: PixelSize
    /// Frames a second at most.
    public let framesPerSecond: Double

    /// Pictures of `size`, at most `framesPerSecond` a second.
    public init(size: PixelSize, framesPerSecond: Double) {
        self.size = size
        self.framesPerSecond = framesPerSecond
    }
}
