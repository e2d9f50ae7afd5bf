internal import RTCShareLocks
public import RTCShareMedia

/// A source whose frames a closure draws at a steady rate, for content that the program renders itself.
public final class PullVideoSource: CaptureSource, BroadcastingVideoSource {
    /// The requested size and rate.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let link: DisplayLink

    /// Creates a source that requests a frame from `draw` at each tick, on its own thread. Nil means that nothing has
    /// changed: no frame is sent then, except to a sink that has not received the newest one. A frame of another size
    /// than `size` is sent as it is. A tick that is due while `draw` still runs is skipped and counted in
    /// ``ticksSkipped``.
    public convenience init(
        size: PixelSize, framesPerSecond: Double = 30, contentHint: ContentHint = .none,
        draw: @escaping @Sendable (DisplayLink.Tick) -> (any VideoFrameBuffer)?
    ) throws(CaptureError) {
        try self.init(framesOf: size, framesPerSecond: framesPerSecond, contentHint: contentHint) { tick in
            draw(tick).map { VideoFrame(buffer: $0, timestamp: tick.dueTime) }
        }
    }

    /// Creates a source of complete frames: `draw` returns each with its rotation, its damage, and its capture time on
    /// the monotonic clock.
    public init(
        framesOf size: PixelSize, framesPerSecond: Double = 30, contentHint: ContentHint = .none,
        draw: @escaping @Sendable (DisplayLink.Tick) -> VideoFrame?
    ) throws(CaptureError) {
        let broadcaster = VideoBroadcaster(contentHint: contentHint)
        self.broadcaster = broadcaster
        captureFormat = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        let newest = Locked(NewestPicture(of: broadcaster))
        link = try DisplayLink(
            framesPerSecond: framesPerSecond, willBegin: { broadcaster.start() },
            didEnd: { broadcaster.end(error: nil) },
            action: { tick in
                guard let frame = draw(tick) else { return newest.withLock { $0 }.sendAgainIfAwaited() }
                newest.withLock { $0.keep(frame) }
                broadcaster.send(frame)
            })
    }

    /// The number of ticks that were skipped because a frame took too long.
    public var ticksSkipped: Int { link.ticksSkipped }

    /// Starts the requests for frames.
    public func start() throws { try link.start() }

    /// Stops capture and notifies the sinks.
    public func stop() { link.stop() }
}
