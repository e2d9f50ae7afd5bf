public import RTCShareMedia

/// Shows the test pattern at a steady rate: for machines without a screen, and for checks by a viewer.
///
/// A frame's number determines its due time: numbers count from the last whole second of the monotonic clock before the
/// start, so that the pattern flashes at whole seconds. A frame that could not be drawn in time is skipped, and the
/// numbers show the gap.
public final class TestPatternSource: CaptureSource, BroadcastingVideoSource {
    /// The pattern's size and rate.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster(contentHint: .detail)
    private let thread = CaptureThread()
    private let pattern: TestPattern

    /// Creates a pattern of `size` at `framesPerSecond`.
    public init(
        size: PixelSize = PixelSize(width: 1280, height: 720), framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        if let problem = TestPattern.problem(with: size) { throw .invalidPatternSize(size, problem: problem) }
        captureFormat = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        pattern = TestPattern(size: size, framesPerSecond: framesPerSecond)
    }

    /// Starts with the frame that is due.
    public func start() throws {
        let (broadcaster, pattern, rate) = (broadcaster, pattern, captureFormat.framesPerSecond)
        try thread.start { signal in
            broadcaster.start()
            broadcaster.whenWanted { [weak signal] in signal?.wake() }
            let pool = FramePool()
            var newest = NewestPicture(of: broadcaster)
            let now = monotonicNow()
            let schedule = TickSchedule(start: .seconds(now.components.seconds), framesPerSecond: rate)
            var failure: CaptureError?
            var frame = schedule.tick(after: -1, now: now)
            var previous: Int?
            while newest.wait(until: schedule.deadline(frame), signal: signal) {
                if !broadcaster.hasSinks {
                    signal.rest { !broadcaster.hasSinks }
                    // The current frame is sent at once: the next may be seconds away.
                    (previous, frame) = (nil, schedule.newest(from: frame, now: monotonicNow()))
                    continue
                }
                do throws(CaptureError) {
                    let buffer = try pool.buffer(size: pattern.size, format: .i420) { planes, strides in
                        pattern.draw(frame: frame, planes: planes, strides: strides)
                    }
                    newest.send(
                        VideoFrame(
                            buffer: buffer, timestamp: schedule.deadline(frame),
                            damage: pattern.damage(from: previous, to: frame)))
                } catch {
                    failure = error
                    break
                }
                previous = frame
                frame = schedule.tick(after: frame, now: monotonicNow())
            }
            signal.finish()
            broadcaster.end(error: failure)
        }
    }

    /// Stops the source and notifies the sinks.
    public func stop() { thread.stop() }
}
