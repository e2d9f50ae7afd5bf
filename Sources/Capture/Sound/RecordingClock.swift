import RTCShareMedia

/// Computes the capture times of recorded audio from measurements that are each some milliseconds off.
///
/// Blocks follow each other by their samples, and slowly approach the measurements, because clocks of sound cards are
/// wrong by some hundredths of a percent. If audio was captured much later, as after a pause of the device, it restarts
/// at its measurement. If it was captured much earlier it can't, because that time has passed: it approaches slowly,
/// too.
struct RecordingClock {
    /// The difference of a measurement above which it counts.
    static let tolerance = Duration.milliseconds(100)
    /// The inverse of the part of a difference that one block corrects, and of the maximum part of its own length.
    private static let gain = 64
    private static let largestCorrection = 100

    let sampleRate: Int
    /// The number of times that measurements were off by more than ``tolerance``, each period once.
    private(set) var discontinuities = 0
    private var next: Duration?
    /// Whether the next block is the first of another recording, whose measurement is used unchanged.
    private var isRestarting = true
    /// Whether blocks have times that are later than measured by more than ``tolerance``.
    private var isLate = false

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    /// Returns the capture time of the first of `sampleCount` samples, which was measured as `measured`.
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

    /// Starts another recording, which doesn't follow the last by its samples.
    mutating func restart() { isRestarting = true }

    /// Skips samples that were lost.
    mutating func skip(sampleCount: Int) {
        next = next.map { $0 + duration(sampleCount) }
    }

    private func duration(_ sampleCount: Int) -> Duration {
        .nanoseconds(Int64(sampleCount) * 1_000_000_000 / Int64(sampleRate))
    }
}
