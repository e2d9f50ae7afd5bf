internal import RTCShareWireFormat

/// The retransmission timer of a handshake flight (RFC 6347 §4.2.4). OpenSSL reports its starts and stops, and this
/// type determines the times.
struct RetransmissionTimer {
    private var initial: Duration
    /// The maximum time until a flight is answered, according to the round-trip time.
    private(set) var answerTime: Duration
    private let longestInitial: Duration
    private let maximum: Duration
    private var interval: Duration
    /// The number of retransmissions of the current flight.
    private(set) var retransmissions = 0
    /// The time of the next retransmission; nil while no flight waits for an answer.
    private(set) var deadline: Instant?
    private var latestStart: Instant?
    /// The time of the current input.
    var now: Instant

    /// The maximum number of retransmissions of a flight. OpenSSL gives up at the thirteenth timeout, but the limit of
    /// the handshake decides here. One timeout is left for a jump of the system clock.
    static let maximumRetransmissions = 11

    init(initial: Duration, maximum: Duration) {
        self.initial = max(initial, .milliseconds(1))
        self.maximum = max(maximum, self.initial)
        longestInitial = self.initial
        answerTime = self.initial
        interval = self.initial
        now = Instant(nanoseconds: 0)
    }

    /// Reduces the timeout of flights from now on. A flight that was already retransmitted keeps its timeout.
    mutating func expectAnswers(within time: Duration) {
        answerTime = time
        initial = min(max(time, .milliseconds(1)), longestInitial)
        if retransmissions == 0 { interval = initial }
    }

    /// Starts the timer when a flight is sent.
    mutating func start() {
        latestStart = now
        deadline = retransmissions < Self.maximumRetransmissions ? now.advanced(by: interval) : nil
    }

    /// Stops the timer when the flight is answered.
    mutating func stop() {
        deadline = nil
        interval = initial
        retransmissions = 0
    }

    /// Whether the flight must be retransmitted because the peer repeats its previous flight, unless that repetition
    /// can have crossed the flight. The timeout then restarts at its initial value.
    mutating func hasten() -> Bool {
        guard deadline != nil, let latestStart, now - latestStart >= answerTime else { return false }
        deadline = nil
        interval = initial
        retransmissions += 1
        return true
    }

    /// Whether the flight is due. If it is, the timeout doubles, and starts with the next ``start()``.
    mutating func expire() -> Bool {
        guard let due = deadline, due <= now else { return false }
        deadline = nil
        interval = min(interval * 2, maximum)
        retransmissions += 1
        return true
    }
}
