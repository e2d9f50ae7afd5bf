/// How long to wait between one try and the next: longer each time, up to a bound, and never quite as long as others do
/// whom the same server left.
struct RetryPauses: Hashable {
    private var next = Self.shortest

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(30)
    /// The next pause, made longer or shorter by a fifth at most, as `chance` of 0 to 1 says; what the server asks for counts where
    /// it is longer.
    mutating func next(atLeast requested: Duration? = nil, chance: Double) -> Duration {
        defer { next = min(next * 2, Self.longest) }
        return max(next * (0.8 + 0.4 * chance), requested ?? .zero)
    }

    /// All is well again: the next trouble is another.
    mutating func reset() { next = Self.shortest }
}
