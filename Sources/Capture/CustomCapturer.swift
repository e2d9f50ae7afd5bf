internal import RTCShareLocks
public import RTCShareMedia

/// A source whose pictures a closure draws, at a steady rate: for what the program renders itself.
public final class CustomCapturer: CaptureSource, BroadcastingVideoSource {
    /// Size and rate that were asked for.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let link: DisplayLink

    /// A source that asks `draw` for a picture at each tick, on its own thread. One of nil says that nothing is new: no
    /// frame is sent then, but a sink that has not seen the newest is given that again. A picture of another size than
    /// `size` is sent as it is. A tick that falls due while `draw` still runs is left out and counted in ``ticksSkipped``.
    public convenience init(
        size: PixelSize, framesPerSecond: Double = 30, contentHint: ContentHint = .none,
        draw: @escaping @Sendable (DisplayLink.Tick) -> (any VideoFrameBuffer)?
    ) throws(CaptureError) {
        try self.init(framesOf: size, framesPerSecond: framesPerSecond, contentHint: contentHint) { tick in
            draw(tick).map { VideoFrame(buffer: $0, timestamp: tick.dueTime) }
        }
    }

    /// The same for frames: `draw` says how each is turned, what changed, and when it was taken, by the monotonic clock.
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

    /// Ticks that were left out, as a picture took longer than there was time for.
    public var ticksSkipped: Int { link.ticksSkipped }

    /// Begins to ask for pictures.
    public func start() throws { try link.start() }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { link.stop() }
}
