import RTCShareWireFormat

/// The limit of error responses to strangers, so that their requests don't determine the traffic of this agent.
struct RefusalAllowance: Sendable {
    /// The maximum number of error responses per second.
    static let perSecond = 16
    private var second: Instant?
    private var given = 0

    /// Whether one more response is allowed, which it counts.
    mutating func take(now: Instant) -> Bool {
        if second.map({ now - $0 >= .seconds(1) }) ?? true { (second, given) = (now, 0) }
        guard given < Self.perSecond else { return false }
        given += 1
        return true
    }
}
