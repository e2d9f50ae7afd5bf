/// The credentials of a Janus server, or of one of its rooms. No description of it contains them.
public struct JanusCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The room's PIN.
    public var pin: String?
    /// The secret of the server's API (`api_secret`).
    public var secret: String?
    /// A token of the server (`token_auth`), or of the room's list of allowed tokens.
    public var token: String?

    /// Creates credentials; those that are nil are not sent.
    public init(pin: String? = nil, secret: String? = nil, token: String? = nil) {
        (self.pin, self.secret, self.token) = (pin, secret, token)
    }

    /// A text without the credentials.
    public var description: String { "credentials" }
    /// A mirror without the credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
