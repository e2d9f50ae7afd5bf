/// Makes the encoder's presentation times out of the frames' timestamps, whatever these do.
///
/// libvpx derives from the distance of two presentation times how often pictures come, and wants them to grow. They are
/// laid on the grid of the configured frame rate: the jitter of a capture clock then changes nothing, a source at half
/// the rate is one. A pause is `largestStep` frames at most. What a frame may cost does not depend on it
/// (``QuantizerControl``).
struct PresentationClock {
    /// Ticks a second.
    static let timebase = 90_000
    private static let largestStep = 4.0

    private var last: (timestamp: Duration, ticks: Int)?
    /// By how much the grid is ahead of the timestamps, in ticks.
    private var lead = 0.0

    /// The frame's presentation time and duration in ticks.
    mutating func next(timestamp: Duration, framesPerSecond: Double) -> (ticks: Int, duration: Int) {
        let interval = max(
            (Double(Self.timebase) / max(framesPerSecond, VP8Encoder.Configuration.smallestFramesPerSecond)).rounded(),
            1)
        guard let last else {
            last = (timestamp, 0)
            return (0, Int(interval))
        }
        let elapsed = max(timestamp - last.timestamp, .zero) / .seconds(1) * Double(Self.timebase)
        let wanted = (elapsed - lead) / interval
        let steps = wanted.isFinite ? min(max(wanted.rounded(), 1), Self.largestStep) : 1
        // What rounding gave too much or too little is made good by the next frame; a jump is forgotten.
        lead += steps * interval - elapsed
        if !(abs(lead) <= interval) { lead = 0 }
        let ticks = last.ticks + Int(steps * interval)
        self.last = (timestamp, ticks)
        return (ticks, Int(interval))
    }
}
