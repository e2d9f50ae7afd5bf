/// Takes frames. Called on the source's own thread: it hands over and returns, it never waits.
public protocol VideoSink: AnyObject, Sendable {
    /// Takes the newest frame.
    func receive(_ frame: VideoFrame)
    /// No frame will follow; `error` says why where that was not asked for.
    func sourceDidEnd(error: (any Error)?)
}

/// Gives frames to any number of sinks. A sink that was removed gets nothing more.
public protocol VideoSource: AnyObject, Sendable {
    /// Gives `sink` every frame from now on.
    func add(_ sink: any VideoSink)
    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    func remove(_ sink: any VideoSink)
}

/// A source that has to be started: a screen, a file, a generator. It runs on a thread of its own.
public protocol CaptureSource: VideoSource {
    /// The pictures' size and rate, known once the source was opened.
    var captureFormat: CaptureFormat { get }
    /// Begins to give frames.
    func start() throws
    /// Ends it, and returns when its thread has ended. Can be called at any time, more than once.
    func stop()
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

/// What a track's pictures are, and so what to keep when not everything fits (W3C mst-content-hint).
public enum ContentHint: String, Sendable, Hashable, CaseIterable {
    /// A camera, a film or a game: the frame rate matters more than sharp edges.
    case motion
    /// Pictures whose detail matters more than the frame rate: a whole desktop.
    case detail
    /// As `detail`, of pictures that are mostly text: a document, an editor, slides.
    case text
}
