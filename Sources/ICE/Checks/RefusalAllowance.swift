import RTCShareWireFormat

/// How often strangers are told that they are refused: what they send must not become what this side sends.
struct RefusalAllowance: Sendable {
    /// Refusals in a row, and in a second.
    static let perSecond = 16
    private var second: Instant?
    private var given = 0

    /// Whether one more may leave.
    mutating func take(now: Instant) -> Bool {
        if second.map({ now - $0 >= .seconds(1) }) ?? true { (second, given) = (now, 0) }
        guard given < Self.perSecond else { return false }
        given += 1
        return true
    }
}
