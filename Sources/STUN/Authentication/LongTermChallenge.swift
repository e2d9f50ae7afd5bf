/// What a server asks its users to prove who they are with (RFC 8489 §9.2.4). It holds no secret: a client that keeps it
/// need not be challenged again.
package struct LongTermChallenge: Hashable, Sendable, Codable {
    /// Whose users are asked for.
    package var realm: String
    /// What every request repeats, until the server names another one.
    package var nonce: [UInt8]
    /// The ways to make a key that the server offers; empty from one before RFC 8489.
    package var passwordAlgorithms: [PasswordAlgorithm]

    /// A challenge as it was met before.
    package init(realm: String, nonce: [UInt8], passwordAlgorithms: [PasswordAlgorithm] = []) {
        self.realm = realm
        self.nonce = nonce
        self.passwordAlgorithms = passwordAlgorithms
    }

    /// The challenge of a 401 or 438 response; nil where realm or nonce is missing.
    package init?(_ response: STUNMessage) {
        guard let realm = response.realm, let nonce = response.nonce else { return nil }
        self.init(realm: realm, nonce: nonce, passwordAlgorithms: response.passwordAlgorithms ?? [])
    }
}
