internal import RTCShareWireFormat

/// When the peer is asked next whether it still consents to be sent to (RFC 7675), and how long it has been silent.
struct ConsentTimer: Sendable {
    /// When it is asked; nil where there is nothing to send on.
    private(set) var due: Instant?
    /// How often it was asked since it last answered.
    private(set) var unanswered = 0

    /// The peer consents, by an answer or on another pair: it is asked again then.
    mutating func start(due: Instant) {
        self.due = due
        unanswered = 0
    }

    /// There is nothing to send on any more.
    mutating func stop() {
        due = nil
        unanswered = 0
    }

    /// The peer was asked; without an answer it is asked again then.
    mutating func asked(again due: Instant) {
        self.due = due
        unanswered += 1
    }

    /// Has the peer asked at once.
    mutating func hasten(now: Instant) {
        due = now
    }
}
