/// A picture at an instant, with what a sender needs to know of it.
public struct VideoFrame: Sendable {
    /// The pixels. Nobody changes them once a frame holds them.
    public internal(set) var buffer: any VideoFrameBuffer
    /// When the picture was taken, since the start of the monotonic clock (`CLOCK_MONOTONIC`).
    public let timestamp: Duration
    /// How far the picture must be turned clockwise to stand upright.
    public let rotation: VideoRotation
    /// What differs from the frame before, in pixels of `buffer`; nil where the source can't tell, empty where nothing.
    public internal(set) var damage: [PixelRectangle]?
    /// The size that the picture is wanted at, before rotation: what `VideoFormatAdapter` made of a request. Whoever
    /// encodes or writes the picture scales it once, where it converts it anyway.
    public internal(set) var outputSize: PixelSize
    /// Of a received picture: when its sender took it, since 1 January 1970 on the sender's clock. Nil where that is not
    /// known yet, and for all other pictures. What sound says is by the same clock: a picture belongs to the sound of
    /// the same ``AudioFrame/captureTime``.
    public let captureTime: Duration?
    /// Whether the buffer was seen to hold what it promises: that is looked at once, where the frame comes in.
    var isValidated = false

    /// A picture taken at `timestamp`, now where nothing else is said, and wanted at the size that it has.
    ///
    /// Timestamps of another clock, or from zero on, are brought to the monotonic clock when the picture is sent: the first
    /// is taken for the time of its sending.
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

    /// Width and height in pixels, before rotation.
    public var size: PixelSize { buffer.size }

    /// The frame, known to hold what it promises.
    func validated() throws(VideoFrameError) -> VideoFrame {
        guard !isValidated else { return self }
        try validate()
        var frame = self
        frame.isValidated = true
        return frame
    }
}

/// A clockwise turn, in degrees.
public enum VideoRotation: Int, Sendable, CaseIterable {
    /// As it stands.
    case upright = 0
    /// A quarter turn clockwise.
    case quarter = 90
    /// Upside down.
    case half = 180
    /// A quarter turn counterclockwise.
    case threeQuarters = 270
}

/// Width and height in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int

    /// `width` columns of `height` rows.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Pixels in all.
    public var area: Int { width * height }

    /// `1280x720`.
    public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels; `x` and `y` count from the left upper corner.
public struct PixelRectangle: Hashable, Sendable {
    /// Columns left of the rectangle.
    public let x: Int
    /// Rows above the rectangle.
    public let y: Int
    /// Columns and rows of the rectangle.
    public let size: PixelSize

    /// The rectangle of `size` whose left upper corner is at `x`, `y`.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// What lies in both; nil where nothing does.
    public func intersection(_ other: PixelRectangle) -> PixelRectangle? {
        let left = max(x, other.x)
        let top = max(y, other.y)
        let right = min(x.end(size.width), other.x.end(other.size.width))
        let bottom = min(y.end(size.height), other.y.end(other.size.height))
        guard left < right, top < bottom else { return nil }
        return PixelRectangle(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    /// The least rectangle that has both in it.
    public func union(_ other: PixelRectangle) -> PixelRectangle {
        let left = min(x, other.x)
        let top = min(y, other.y)
        let right = max(x.end(size.width), other.x.end(other.size.width))
        let bottom = max(y.end(size.height), other.y.end(other.size.height))
        return PixelRectangle(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}

extension Int {
    /// This plus a length; as far as the type goes where that is beyond.
    fileprivate func end(_ length: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(length)
        return overflow ? (length > 0 ? .max : .min) : sum
    }
}
