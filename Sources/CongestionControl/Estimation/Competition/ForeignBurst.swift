internal import RTCShareWireFormat

/// Detects whether the queue that reduced the estimate was a burst of other traffic. Such a queue drains much faster
/// than this side's reduction explains, and the estimate returns to its former value.
///
/// Source: none in libwebrtc, which reduces its rate at each burst, and is left with little next to many short
/// transfers. The idea is that of undoing a spurious reduction (RFC 4015).
struct ForeignBurst: Sendable {
    /// The maximum duration of a burst.
    private static let longest = Duration.milliseconds(1500)
    private static let leastSlope = 0.3
    /// The maximum delay of a burst.
    private static let longestDelay = Duration.milliseconds(250)
    private static let leastDelay = Duration.milliseconds(10)

    /// The origin of a queue, with the rate from before it.
    enum Finding: Sendable {
        /// The queue was other traffic's.
        case foreign(DataRate)
        /// The queue drained fast, but this side's reduction is large enough to explain that.
        case unclear(DataRate)
    }

    private struct Episode: Sendable {
        let start: Instant
        let before: DataRate
    }

    private var episode: Episode?

    /// Records a reduction.
    mutating func didCut(from before: DataRate, now: Instant) {
        if let episode, now - episode.start < Self.longest { return }
        episode = Episode(start: now, before: before)
    }

    /// Returns the origin of the queue that reduced the estimate, after it has drained; nil before, and if it drained
    /// slowly.
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
