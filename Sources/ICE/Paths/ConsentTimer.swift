internal import RTCShareWireFormat

/// The time of the next consent check (RFC 7675), and the number of unanswered ones.
struct ConsentTimer: Sendable {
    /// The time of the next consent check; nil without a selected pair.
    private(set) var due: Instant?
    /// The number of consent checks since the last answer.
    private(set) var unanswered = 0

    /// Records the peer's consent, from an answer or on another pair, and schedules the next check.
    mutating func start(due: Instant) {
        self.due = due
        unanswered = 0
    }

    /// Stops consent checks.
    mutating func stop() {
        due = nil
        unanswered = 0
    }

    /// Records a consent check, and schedules the next one in case it stays unanswered.
    mutating func asked(again due: Instant) {
        self.due = due
        unanswered += 1
    }

    /// Schedules the next consent check for `time` at the latest.
    mutating func hasten(to time: Instant) {
        due = due.map { min($0, time) }
    }
}
