import RTCShareMedia

/// Says when recorded sound was taken, from measurements that are each some milliseconds off.
///
/// Blocks follow each other by their samples, and approach the measurements slowly, as clocks of sound cards run by some
/// hundredths of a percent too fast or slow. Sound that was taken much later, as after a pause of the device, begins again
/// at its measurement. Sound that was taken much earlier can't: the time before was given already. It approaches as slowly.
struct RecordingClock {
    /// How far measurements may be off before that counts.
    static let tolerance = Duration.milliseconds(100)
    /// What part of a difference one block takes up, and at most which part of its own length.
    private static let gain = 64
    private static let largestCorrection = 100

    let sampleRate: Int
    /// How often measurements were off by more than ``tolerance``, each such time once.
    private(set) var discontinuities = 0
    private var next: Duration?
    /// The first block of another recording is taken as it is measured.
    private var isRestarting = true
    /// Whether blocks are given with times that are later than measured by more than ``tolerance``.
    private var isLate = false

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    /// When the first of `sampleCount` samples was taken, which was measured to be at `measured`.
    mutating func timestamp(sampleCount: Int, measured: Duration) -> Duration {
        let length = duration(sampleCount)
        var timestamp = next ?? measured
        if isRestarting { timestamp = max(timestamp, measured) }
        let difference = measured - timestamp
        let wasLate = isLate
        isLate = difference < .zero - (isLate ? Self.tolerance / 2 : Self.tolerance)
        if difference > Self.tolerance {
            discontinuities += 1
            timestamp = measured
        } else {
            if isLate, !wasLate, !isRestarting { discontinuities += 1 }
            let limit = length / Self.largestCorrection
            timestamp += min(max(difference / Self.gain, .zero - limit), limit)
        }
        isRestarting = false
        next = timestamp + length
        return timestamp
    }

    /// Begins with another recording, which doesn't follow the last by its samples.
    mutating func restart() { isRestarting = true }

    /// Leaves out samples that were lost.
    mutating func skip(sampleCount: Int) {
        next = next.map { $0 + duration(sampleCount) }
    }

    private func duration(_ sampleCount: Int) -> Duration {
        .nanoseconds(Int64(sampleCount) * 1_000_000_000 / Int64(sampleRate))
    }
}
