/// Derives the encoder's presentation times from the frames' timestamps, whatever those are.
///
/// libvpx derives the frame rate from the difference of two presentation times, and requires that they increase. They
/// are aligned to the grid of the configured frame rate, so that jitter of a capture clock has no effect, and a source
/// at half the rate has half the rate. A pause counts as at most `largestStep` frames. The size of a frame does not
/// depend on it (``QuantizerControl``).
struct PresentationClock {
    /// The number of ticks per second.
    static let timebase = 90_000
    private static let largestStep = 4.0

    private var last: (timestamp: Duration, ticks: Int)?
    /// The difference between the grid and the timestamps, in ticks.
    private var lead = 0.0

    /// Returns the frame's presentation time and duration in ticks.
    mutating func next(timestamp: Duration, framesPerSecond: Double) -> (ticks: Int, duration: Int) {
        let interval = max(
            (Double(Self.timebase) / max(framesPerSecond, VideoEncoder.Settings.leastFramesPerSecond)).rounded(),
            1)
        guard let last else {
            last = (timestamp, 0)
            return (0, Int(interval))
        }
        let elapsed = max(timestamp - last.timestamp, .zero) / .seconds(1) * Double(Self.timebase)
        let wanted = (elapsed - lead) / interval
        let steps = wanted.isFinite ? min(max(wanted.rounded(), 1), Self.largestStep) : 1
        // The next frame compensates for rounding. A jump is ignored.
        lead += steps * interval - elapsed
        if !(abs(lead) <= interval) { lead = 0 }
        let ticks = last.ticks + Int(steps * interval)
        self.last = (timestamp, ticks)
        return (ticks, Int(interval))
    }
}
