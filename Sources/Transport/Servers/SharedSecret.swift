internal import FoundationEssentials
internal import RTCShareCryptography
internal import RTCShareSTUN

/// A secret that a TURN server shares with this program, which derives users' credentials of limited time from it
/// (draft-uberti-behave-turn-rest §2.2). No description of it contains the secret.
///
/// The server checks the time when it grants a relayed address. RFC 8656 §5 binds all later requests to the user name
/// of the first one, so that coturn keeps an address beyond that time, and renewed credentials are only for new ones.
struct SharedSecret: Sendable, Hashable {
    private let key: [UInt8]
    /// The user of this program's own relayed addresses.
    private let name: String
    /// The seconds for which credentials are valid.
    let lifetime: Int64

    /// The maximum lifetime of credentials, in seconds.
    static let longestLifetime: Int64 = 24 * 3600

    /// Creates a secret for a user. Returns nil if either is empty, or if the user name is not usable.
    init?(_ secret: String, name: String, lifetime: Duration) {
        guard !secret.isEmpty, !name.isEmpty else { return nil }
        key = Array(secret.utf8)
        self.name = name
        self.lifetime = min(max(1, lifetime.components.seconds), Self.longestLifetime)
        guard credentials(for: nil, now: Date()) != nil else { return nil }
    }

    /// Returns a user's credentials, which expire after their lifetime from `now`. The user is this program if nil.
    func credentials(for user: String?, now: Date) -> (username: String, password: String)? {
        let username = "\(Int64(now.timeIntervalSince1970) + lifetime):\(user ?? name)"
        guard
            let code = try? HashFunction.sha1.authenticationCode(
                key: key.span.bytes, message: Array(username.utf8).span.bytes)
        else { return nil }
        let password = Data(code).base64EncodedString()
        return LongTermCredentials(username: username, password: password).map { _ in (username, password) }
    }
}

extension SharedSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "a secret" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
