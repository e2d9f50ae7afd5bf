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
