public import RTCShareMedia

/// A source whose pictures a closure draws, at a steady rate: for what the program renders itself.
public final class CustomCapturer: CaptureSource, BroadcastingVideoSource {
    /// Size and rate that were asked for.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster: VideoBroadcaster
    private let link: DisplayLink

    /// A source that asks `draw` for a picture at each tick, on its own thread. One of nil says that nothing is new: no
    /// frame is sent then. A picture of another size than `size` is sent as it is. A tick that falls due while `draw`
    /// still runs is left out and counted in ``ticksSkipped``.
    public init(
        size: PixelSize, framesPerSecond: Double = 30, contentHint: ContentHint = .none,
        draw: @escaping @Sendable (DisplayLink.Tick) -> (any VideoFrameBuffer)?
    ) throws(CaptureError) {
        let broadcaster = VideoBroadcaster(contentHint: contentHint)
        self.broadcaster = broadcaster
        captureFormat = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        link = try DisplayLink(
            framesPerSecond: framesPerSecond, willBegin: { broadcaster.start() },
            didEnd: { broadcaster.end(error: nil) },
            action: { tick in
                guard let buffer = draw(tick) else { return }
                broadcaster.send(VideoFrame(buffer: buffer, timestamp: tick.dueTime))
            })
    }

    /// Ticks that were left out, as a picture took longer than there was time for.
    public var ticksSkipped: Int { link.ticksSkipped }

    /// Begins to ask for pictures.
    public func start() throws { try link.start() }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { link.stop() }
}
