/// The address of a Janus server: a URL of its HTTP API, or of its WebSocket.
struct JanusAddress: Hashable, Sendable {
    /// The URL; for a WebSocket with the scheme of HTTP, with which it begins (RFC 6455 §1.3).
    let url: WebAddress
    let isWebSocket: Bool

    /// The default path of the HTTP API.
    private static let usualPath = "/janus"

    /// Parses a URL; nil if it is not `http`, `https`, `ws` or `wss`.
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

    /// The URL as users write it, without the query.
    var shown: String {
        isWebSocket ? "ws" + url.shown.dropFirst(4) : url.shown
    }
}
