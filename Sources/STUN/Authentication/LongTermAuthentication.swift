internal import RTCShareCryptography

/// The reason why a client cannot answer a server's challenge.
package enum ChallengeError: Error, Hashable, Sendable {
    /// REALM or NONCE is missing.
    case incomplete
    /// The nonce announces password algorithms, but the response has none, or no known one: an attacker on the path may
    /// have removed them (RFC 8489 §9.2.5).
    case weakened
    /// A required hash function is not available.
    case unavailable
}

/// A server's challenge and the key that a client derives from it (RFC 8489 §9.2).
package struct LongTermAuthentication: Sendable {
    /// The server's challenge. Requests repeat its list of algorithms, so that the server detects an altered list.
    package let challenge: LongTermChallenge
    /// The realm of the server.
    package var realm: String { challenge.realm }
    /// The nonce for the next request.
    package var nonce: [UInt8] { challenge.nonce }
    /// The integrity attribute that requests have and that responses must have.
    package let integrity: IntegrityAlgorithm

    private let username: String
    private let key: [UInt8]
    private let chosen: PasswordAlgorithm?
    /// The SHA-256 hash of user name and realm, if the server supports it.
    private let userhash: [UInt8]?

    private static let nonceCookie = Array("obMatJos2".utf8)

    /// The features that a nonce announces (RFC 8489 §9.2.1 and §18.1; bit 0 is the rightmost, as in the errata).
    struct SecurityFeatures: OptionSet {
        let rawValue: UInt32
        static let passwordAlgorithms = SecurityFeatures(rawValue: 1)
        static let usernameAnonymity = SecurityFeatures(rawValue: 2)
    }

    /// Answers the challenge of a 401 or 438 response.
    package init(_ credentials: LongTermCredentials, challenge: STUNMessage) throws(ChallengeError) {
        guard let challenge = LongTermChallenge(challenge) else { throw .incomplete }
        try self.init(credentials, challenge: challenge)
    }

    /// Answers a stored challenge.
    package init(_ credentials: LongTermCredentials, challenge: LongTermChallenge) throws(ChallengeError) {
        let features = Self.securityFeatures(of: challenge.nonce)
        let known = challenge.passwordAlgorithms.first { $0 == .sha256 || $0 == .md5 }
        if features.contains(.passwordAlgorithms), known == nil { throw .weakened }
        self.challenge = challenge
        username = credentials.username
        chosen = known
        integrity = known == nil ? .sha1 : .sha256
        let realm = challenge.realm
        do {
            key = try STUNMessage.longTermKey(
                username: credentials.username, realm: LongTermCredentials.prepared(realm) ?? realm,
                password: credentials.password, algorithm: known == .sha256 ? .sha256 : .md5)
            userhash =
                features.contains(.usernameAnonymity)
                ? try HashFunction.sha256.digest(of: Array("\(credentials.username):\(realm)".utf8).span.bytes) : nil
        } catch {
            throw .unavailable
        }
    }

    /// Returns the request's bytes, with the user and with integrity.
    package func encode(_ request: STUNMessage) throws(STUNError) -> [UInt8] {
        var request = request
        request.attributes.append(userhash.map { .userhash($0) } ?? .username(username))
        request.attributes.append(.realm(realm))
        request.attributes.append(.nonce(nonce))
        if let chosen {
            request.attributes.append(.passwordAlgorithms(challenge.passwordAlgorithms))
            request.attributes.append(.passwordAlgorithm(chosen))
        }
        return try request.encoded(integrityKey: key, integrity: integrity)
    }

    /// Whether the server authenticated this message with the same key.
    package func isAuthentic(_ message: STUNMessage) -> Bool {
        message.isAuthentic(key: key, integrity: integrity)
    }

    static func securityFeatures(of nonce: [UInt8]) -> SecurityFeatures {
        guard nonce.starts(with: nonceCookie), nonce.count >= nonceCookie.count + 4 else { return [] }
        var bits: UInt32 = 0
        for character in nonce[nonceCookie.count..<nonceCookie.count + 4] {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return []
            }
            bits = bits << 6 | UInt32(value)
        }
        return SecurityFeatures(rawValue: bits)
    }
}
