/// Where a Janus is: at an URL of its HTTP API, or of its WebSocket.
struct JanusAddress: Hashable, Sendable {
    /// The URL; that of a WebSocket with the scheme of HTTP, by which it begins (RFC 6455 §1.3).
    let url: WebAddress
    let isWebSocket: Bool

    /// Where Janus has its HTTP API unless it was told another place.
    private static let usualPath = "/janus"

    /// Reads `http`, `https`, `ws` and `wss`; nil for what is none of them.
    init?(_ text: String) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let others = ["ws": "http", "wss": "https"]
        isWebSocket = others[scheme] != nil
        guard let url = WebAddress((others[scheme] ?? scheme) + text.dropFirst(scheme.count)) else { return nil }
        guard !isWebSocket, url.path == "/", let usual = url.resolving(Self.usualPath) else {
            self.url = url
            return
        }
        self.url = usual
    }

    /// The URL as a person writes it, without what stands behind its path.
    var shown: String {
        isWebSocket ? "ws" + url.shown.dropFirst(4) : url.shown
    }
}

/// What a Janus, or a room of it, wants to be shown. Nothing that describes it shows it.
public struct JanusCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// The room's pin.
    public var pin: String?
    /// The secret of the server's API (`api_secret`).
    public var secret: String?
    /// A token of the server (`token_auth`), or of the room's list of those who may join.
    public var token: String?

    /// Credentials; nothing is given that is not wanted.
    public init(pin: String? = nil, secret: String? = nil, token: String? = nil) {
        (self.pin, self.secret, self.token) = (pin, secret, token)
    }

    /// Says nothing of them.
    public var description: String { "credentials" }
    /// Shows nothing of them.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
