/// The pace of polls: the next one follows at once if the server waited or had a message, and after a pause if it fails
/// or repeatedly answers at once.
struct PollPace {
    enum Outcome {
        case news, nothing, failure
    }

    private var quickPolls = 0

    private static let pause = Duration.seconds(1)
    /// The shortest wait of a server that waits.
    private static let shortestWait = Duration.seconds(1)
    /// The maximum number of consecutive quick polls with messages, more than any room needs.
    private static let mostQuickPolls = 10

    /// Returns the pause after a poll, nil for none.
    mutating func pause(after outcome: Outcome, taking time: Duration) -> Duration? {
        guard time < Self.shortestWait else {
            quickPolls = 0
            return outcome == .failure ? Self.pause : nil
        }
        quickPolls += 1
        return outcome != .news || quickPolls > Self.mostQuickPolls ? Self.pause : nil
    }
}
