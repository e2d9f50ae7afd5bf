/// An observer of video or audio capture. Called where the event occurs, usually on the source's thread, with no lock
/// held.
public protocol CaptureSourceObserver: AnyObject, Sendable {
    /// Called when capture has started.
    func captureDidStart()
    /// Called when capture has stopped, on request or at the end of the source.
    func captureDidStop()
    /// Called on an error. Capture continues after ``CaptureSourceError/Kind/invalidFrame``, and has ended otherwise.
    func captureDidFail(error: CaptureSourceError)
    /// Called when the captured object provides no video for now, or nobody can see it. Capture waits for it. If there
    /// is no video, the sinks are muted until then, and viewers see that the share is paused.
    func captureWasInterrupted(by interruption: CaptureInterruption)
    /// Called when an interruption has ended.
    func captureInterruptionDidEnd(_ interruption: CaptureInterruption)
    /// Called when the size of the frames has changed.
    func captureSizeDidChange(to size: PixelSize)
}

extension CaptureSourceObserver {
    /// Does nothing.
    public func captureDidStart() {}
    /// Does nothing.
    public func captureDidStop() {}
    /// Does nothing.
    public func captureDidFail(error: CaptureSourceError) {}
    /// Does nothing.
    public func captureWasInterrupted(by interruption: CaptureInterruption) {}
    /// Does nothing.
    public func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {}
    /// Does nothing.
    public func captureSizeDidChange(to size: PixelSize) {}
}

/// A source of video or audio whose capture has observers.
public protocol ObservableCapture: AnyObject, Sendable {
    /// Adds an observer of capture.
    func add(observer: any CaptureSourceObserver)
    /// Removes an observer.
    func remove(observer: any CaptureSourceObserver)
}

extension ObservableCapture {
    /// The events of the capture, up to its end. Each access returns a new sequence, for one reader. If the reader is
    /// slow, the newest events are kept.
    ///
    /// If the source has a ``VideoBroadcaster`` or an ``AudioBroadcaster``, the events begin with those of a running
    /// capture that still hold: its start and its interruption. They also end when the source is released.
    public var events: AsyncStream<CaptureEvent> { CaptureEvent.stream { add(observer: $0) } }
}
