/// The gap between two frames from which on it is a freeze: a receiver's `freezeCount` of W3C webrtc-stats.
package struct FreezeThreshold: Sendable {
    /// The number of gaps in the mean.
    private static let window = 30

    /// The newest gaps, and the index of the next one.
    private var gaps: [Duration] = []
    private var position = 0
    private var sum = Duration.zero

    package init() {}

    /// The number of gaps in the mean, at most thirty.
    package var count: Int { gaps.count }

    /// The threshold: three times the mean of the last gaps, and at least 150 ms more than the mean.
    package var value: Duration {
        let mean = gaps.isEmpty ? .zero : sum / gaps.count
        return max(mean * 3, mean + .milliseconds(150))
    }

    /// Adds a gap to the mean.
    package mutating func add(_ gap: Duration) {
        sum += gap
        guard gaps.count == Self.window else { return gaps.append(gap) }
        sum -= gaps[position]
        gaps[position] = gap
        position = (position + 1) % Self.window
    }
}
