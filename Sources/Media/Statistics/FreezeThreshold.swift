/// From when on a gap between two pictures is a freeze: a receiver's `freezeCount` of W3C's webrtc-stats.
package struct FreezeThreshold: Sendable {
    /// What the mean is made of.
    private static let window = 30

    /// The newest gaps, and where the next goes.
    private var gaps: [Duration] = []
    private var position = 0
    private var sum = Duration.zero

    package init() {}

    /// How many gaps it goes by, thirty at most.
    package var count: Int { gaps.count }

    /// Three times the mean of the gaps before, and 150 ms more than that at least.
    package var value: Duration {
        let mean = gaps.isEmpty ? .zero : sum / gaps.count
        return max(mean * 3, mean + .milliseconds(150))
    }

    /// Takes a gap into the mean.
    package mutating func add(_ gap: Duration) {
        sum += gap
        guard gaps.count == Self.window else { return gaps.append(gap) }
        sum -= gaps[position]
        gaps[position] = gap
        position = (position + 1) % Self.window
    }
}
