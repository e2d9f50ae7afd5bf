internal import RTCShareWireFormat

/// When a flight of the handshake is to be sent again (RFC 6347 §4.2.4): OpenSSL says that the timer starts and stops,
/// the time is ours.
struct RetransmissionTimer {
    private var initial: Duration
    /// How long the answer to a flight takes at most, by the round trip.
    private(set) var answerTime: Duration
    private let longestInitial: Duration
    private let maximum: Duration
    private var interval: Duration
    /// How often the flight in the air has been sent again.
    private(set) var retransmissions = 0
    /// When it is due to be sent again; nil while no flight waits for an answer.
    private(set) var deadline: Instant?
    private var latestStart: Instant?
    /// The time of the input that is being worked on.
    var now: Instant

    /// OpenSSL gives up at the thirteenth timeout of one flight; it is the handshake's limit that decides here. One is left
    /// for a leap of the system's clock.
    static let maximumRetransmissions = 11

    init(initial: Duration, maximum: Duration) {
        self.initial = max(initial, .milliseconds(1))
        self.maximum = max(maximum, self.initial)
        longestInitial = self.initial
        answerTime = self.initial
        interval = self.initial
        now = Instant(nanoseconds: 0)
    }

    /// Flights wait no longer than this from now on; one that has been sent again already goes on as it did.
    mutating func expectAnswers(within time: Duration) {
        answerTime = time
        initial = min(max(time, .milliseconds(1)), longestInitial)
        if retransmissions == 0 { interval = initial }
    }

    /// A flight was sent.
    mutating func start() {
        latestStart = now
        deadline = retransmissions < Self.maximumRetransmissions ? now.advanced(by: interval) : nil
    }

    /// The flight was answered.
    mutating func stop() {
        deadline = nil
        interval = initial
        retransmissions = 0
    }

    /// Whether the flight is to be sent again as the peer repeats the one before it, which it has not answered then: where
    /// the repetition can't have crossed the flight. What follows waits as at first.
    mutating func hasten() -> Bool {
        guard deadline != nil, let latestStart, now - latestStart >= answerTime else { return false }
        deadline = nil
        interval = initial
        retransmissions += 1
        return true
    }

    /// Whether the flight is due; then the next interval is twice as long, and begins with the next ``start()``.
    mutating func expire() -> Bool {
        guard let due = deadline, due <= now else { return false }
        deadline = nil
        interval = min(interval * 2, maximum)
        retransmissions += 1
        return true
    }
}
