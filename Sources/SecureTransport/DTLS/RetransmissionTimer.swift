internal import RTCShareWireFormat

/// When a flight of the handshake is to be sent again (RFC 6347 §4.2.4): OpenSSL says that the timer starts and stops,
/// the time is ours.
struct RetransmissionTimer {
    private let initial: Duration
    private let maximum: Duration
    private var interval: Duration
    /// How often the flight in the air has been sent again.
    private(set) var retransmissions = 0
    /// When it is due to be sent again; nil while no flight waits for an answer.
    private(set) var deadline: Instant?
    /// The time of the input that is being worked on.
    var now: Instant

    /// OpenSSL gives up at the thirteenth timeout of one flight; it is the handshake's limit that decides here. One is left
    /// for a leap of the system's clock.
    static let maximumRetransmissions = 11

    init(initial: Duration, maximum: Duration) {
        self.initial = max(initial, .milliseconds(1))
        self.maximum = max(maximum, self.initial)
        interval = self.initial
        now = Instant(nanoseconds: 0)
    }

    /// A flight was sent.
    mutating func start() {
        deadline = retransmissions < Self.maximumRetransmissions ? now.advanced(by: interval) : nil
    }

    /// The flight was answered.
    mutating func stop() {
        deadline = nil
        interval = initial
        retransmissions = 0
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
