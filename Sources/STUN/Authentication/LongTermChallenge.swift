/// A server's request for long-term credentials (RFC 8489 §9.2.4). It contains no secret. A client that stores it
/// avoids another challenge.
package struct LongTermChallenge: Hashable, Sendable, Codable {
    /// The realm of the credentials.
    package var realm: String
    /// The nonce that every request repeats until the server sends another one.
    package var nonce: [UInt8]
    /// The password algorithms that the server offers; empty for a server before RFC 8489.
    package var passwordAlgorithms: [PasswordAlgorithm]

    /// Creates a stored challenge.
    package init(realm: String, nonce: [UInt8], passwordAlgorithms: [PasswordAlgorithm] = []) {
        self.realm = realm
        self.nonce = nonce
        self.passwordAlgorithms = passwordAlgorithms
    }

    /// Creates the challenge of a 401 or 438 response; nil if realm or nonce is missing.
    package init?(_ response: STUNMessage) {
        guard let realm = response.realm, let nonce = response.nonce else { return nil }
        self.init(realm: realm, nonce: nonce, passwordAlgorithms: response.passwordAlgorithms ?? [])
    }
}
