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
