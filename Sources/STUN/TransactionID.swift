/// The 96 random bits that match a response with its request (RFC 8489 §5).
package struct TransactionID: Hashable, Sendable {
    /// The first four bytes.
    let high: UInt32
    /// The other eight bytes.
    let low: UInt64

    init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Draws an identifier from `generator`, which must be cryptographically strong: an attacker who guesses the
    /// identifier can forge a STUN server's response.
    package init(using generator: inout some RandomNumberGenerator) {
        high = UInt32(truncatingIfNeeded: generator.next() as UInt64)
        low = generator.next()
    }
}
