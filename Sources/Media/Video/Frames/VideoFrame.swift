/// A frame of video, with the metadata that a sender needs.
public struct VideoFrame: Sendable {
    /// The pixels, which do not change any more.
    public internal(set) var buffer: any VideoFrameBuffer
    /// The time at which the frame was captured, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
    public let timestamp: Duration
    /// The clockwise rotation that makes the frame upright.
    public let rotation: VideoRotation
    /// The parts that differ from the frame before, in pixels of `buffer`; nil if the source does not know, empty for
    /// no change.
    public internal(set) var damage: [PixelRectangle]?
    /// The size that the picture is wanted at, before rotation: what `VideoFormatAdapter` made of a request. Whoever
    /// encodes or writes the picture scales it once, where it converts it anyway.
    public internal(set) var outputSize: PixelSize
    /// Of a received frame, the time at which its sender captured it, since 1 January 1970 on the sender's clock. Nil
    /// if that is not known yet, and for all other frames. Audio uses the same clock: a frame belongs to the audio of
    /// the same ``AudioFrame/captureTime``.
    public let captureTime: Duration?
    /// Whether the buffer's memory was checked. That happens once, when the frame enters.
    var isValidated = false

    /// Creates a frame, captured at `timestamp` (default: now), with its own size as the target size.
    ///
    /// Timestamps of another clock, or from zero on, are mapped to the monotonic clock when the frame is sent: the
    /// first is taken as the time at which it was sent.
    public init(
        buffer: any VideoFrameBuffer, timestamp: Duration = CaptureClock.now, rotation: VideoRotation = .upright,
        damage: [PixelRectangle]? = nil, outputSize: PixelSize? = nil, captureTime: Duration? = nil
    ) {
        self.buffer = buffer
        self.timestamp = timestamp
        self.rotation = rotation
        self.damage = damage
        self.outputSize = outputSize ?? buffer.size
        self.captureTime = captureTime
    }

    /// The width and height in pixels, before rotation.
    public var size: PixelSize { buffer.size }

    /// Returns the frame after checking its buffer.
    func validated() throws(VideoFrameError) -> VideoFrame {
        guard !isValidated else { return self }
        try validate()
        var frame = self
        frame.isValidated = true
        return frame
    }
}

/// A clockwise rotation, in degrees.
public enum VideoRotation: Int, Sendable, CaseIterable {
    /// No rotation.
    case upright = 0
    /// A quarter turn clockwise.
    case quarter = 90
    /// Upside down.
    case half = 180
    /// A quarter turn counterclockwise.
    case threeQuarters = 270
}
