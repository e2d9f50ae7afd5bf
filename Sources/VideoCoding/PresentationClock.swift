/// Makes the encoder's presentation times out of the frames' timestamps, whatever these do.
///
/// libvpx derives from the distance of two presentation times what a frame may cost, and wants them to grow. They are
/// laid on the grid of the configured frame rate: the jitter of a capture clock then changes nothing, a source at half
/// the rate gets twice the bits a frame. A pause is not saved up: after one, a frame may cost no more than
/// `largestStep` frames, or it would go out as a burst.
struct PresentationClock {
    /// Ticks a second.
    static let timebase = 90_000
    private static let largestStep = 4.0

    private var last: (timestamp: Duration, ticks: Int)?
    /// By how much the grid is ahead of the timestamps, in ticks.
    private var lead = 0.0

    /// The frame's presentation time and duration in ticks. What it was held by, `wait`, to pay for what came before is no
    /// time in which bits of its own came together.
    mutating func next(
        timestamp: Duration, framesPerSecond: Double, wait: Duration = .zero
    ) -> (ticks: Int, duration: Int) {
        let interval = max(
            (Double(Self.timebase) / max(framesPerSecond, VP8Encoder.Configuration.smallestFramesPerSecond)).rounded(),
            1)
        guard let last else {
            last = (timestamp, 0)
            return (0, Int(interval))
        }
        let elapsed = max(timestamp - last.timestamp - wait, .zero) / .seconds(1) * Double(Self.timebase)
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
