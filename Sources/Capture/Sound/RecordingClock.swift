import RTCShareMedia

/// Says when recorded sound was taken, from measurements that are each some milliseconds off.
///
/// Blocks follow each other by their samples; what the measurements say otherwise is taken up slowly, as clocks of
/// sound cards run by some hundredths of a percent too fast or slow. Sound that is somewhere else altogether, as after
/// a pause of the device, begins anew there.
struct RecordingClock {
    /// How far measurements may be off before sound begins anew.
    static let tolerance = Duration.milliseconds(100)
    /// What part of a difference one block takes up, and at most which part of its own length.
    private static let gain = 64
    private static let largestCorrection = 100

    let sampleRate: Int
    /// How often sound had to begin anew.
    private(set) var discontinuities = 0
    private var next: Duration?

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    /// When the first of `sampleCount` samples was taken, which was measured to be at `measured`.
    mutating func timestamp(sampleCount: Int, measured: Duration) -> Duration {
        let length = duration(sampleCount)
        guard var timestamp = next else {
            next = measured + length
            return measured
        }
        let difference = measured - timestamp
        if difference > Self.tolerance || difference < .zero - Self.tolerance {
            discontinuities += 1
            // Never back to before what was given: whoever mixes or encodes relies on that.
            timestamp = max(measured, timestamp)
        } else {
            let limit = length / Self.largestCorrection
            timestamp += min(max(difference / Self.gain, .zero - limit), limit)
        }
        next = timestamp + length
        return timestamp
    }

    /// Leaves out samples that were lost.
    mutating func skip(sampleCount: Int) {
        next = next.map { $0 + duration(sampleCount) }
    }

    private func duration(_ sampleCount: Int) -> Duration {
        .nanoseconds(Int64(sampleCount) * 1_000_000_000 / Int64(sampleRate))
    }
}
