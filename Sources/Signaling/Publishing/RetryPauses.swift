/// The pauses between retries: longer each time, up to a maximum, and random, so that several clients of a server that
/// failed do not retry at the same time.
struct RetryPauses: Hashable {
    private var next = Self.shortest

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(30)
    /// Returns the next pause, which `chance` (0 to 1) makes longer or shorter by at most a fifth. A longer request of
    /// the server takes precedence.
    mutating func next(atLeast requested: Duration? = nil, chance: Double) -> Duration {
        defer { next = min(next * 2, Self.longest) }
        return max(next * (0.8 + 0.4 * chance), requested ?? .zero)
    }

    /// Resets the pauses after a success: the next failure is a new one.
    mutating func reset() { next = Self.shortest }
}
