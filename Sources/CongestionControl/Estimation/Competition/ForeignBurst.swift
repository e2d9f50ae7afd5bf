internal import RTCShareWireFormat

/// Finds out whether a queue that made the estimate go down was a burst of somebody else: then it drains far faster than
/// what this side gives up explains, and the estimate goes back to what it was.
///
/// Source: none in libwebrtc, which gives up a share of its rate at each burst, and beside many short transfers is left
/// with little; the idea is that of undoing a spurious reduction (RFC 4015).
struct ForeignBurst: Sendable {
    /// A queue that took longer is no burst.
    private static let longest = Duration.milliseconds(1500)
    private static let leastSlope = 0.3
    /// Nor is one that packets waited in for longer.
    private static let longestDelay = Duration.milliseconds(250)
    private static let leastDelay = Duration.milliseconds(10)

    /// Whose queue it was. The rates are those from before.
    enum Finding: Sendable {
        /// Somebody else's.
        case foreign(DataRate)
        /// It went fast, but this side gave up as much as would do that.
        case unclear(DataRate)
    }

    private struct Episode: Sendable {
        let start: Instant
        let before: DataRate
    }

    private var episode: Episode?

    /// Takes note of a cut.
    mutating func didCut(from before: DataRate, now: Instant) {
        if let episode, now - episode.start < Self.longest { return }
        episode = Episode(start: now, before: before)
    }

    /// Whose queue it was that lowered the estimate, once it is gone; nil before, and where it went slowly.
    mutating func finding(estimate: DataRate, queueing: QueueingDelay, now: Instant) -> Finding? {
        guard let episode else { return nil }
        guard now - episode.start < Self.longest, estimate < episode.before else {
            self.episode = nil
            return nil
        }
        guard let peak = queueing.highest(since: episode.start.advanced(by: .milliseconds(-300))),
            let newest = queueing.newest, Self.leastDelay > newest.delay, newest.sent > peak.sent
        else { return nil }
        self.episode = nil
        let slope = (peak.delay - newest.delay).seconds / (newest.sent - peak.sent).seconds
        let given = 1 - Double(estimate.bitsPerSecond) / Double(max(1, episode.before.bitsPerSecond))
        guard slope > Self.leastSlope, peak.delay < Self.longestDelay else { return nil }
        return slope > given * 1.2 + 0.1 ? .foreign(episode.before) : .unclear(episode.before)
    }
}
