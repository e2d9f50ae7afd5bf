/// The 96 random bits that tie a response to its request (RFC 8489 §5).
package struct TransactionID: Hashable, Sendable {
    /// The first four bytes.
    let high: UInt32
    /// The other eight.
    let low: UInt64

    init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// An identifier drawn from `generator`, which must be cryptographically strong: who can guess the identifier can
    /// answer for a STUN server.
    package init(using generator: inout some RandomNumberGenerator) {
        high = UInt32(truncatingIfNeeded: generator.next() as UInt64)
        low = generator.next()
    }
}
