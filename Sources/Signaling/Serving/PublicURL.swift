/// The URL at which viewers outside the network reach a server: scheme, host, and optionally a port and a path.
public struct PublicURL: Hashable, Sendable, CustomStringConvertible {
    /// Whether the scheme is `https`.
    public let isSecure: Bool
    /// The host's name or address, as written in the URL.
    public let host: String
    /// The port. Nil for the scheme's default.
    public let port: UInt16?
    /// The components of the path.
    public let path: [String]

    /// Parses a URL. Without a scheme, it is `https`.
    public init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        if rest.lowercased().hasPrefix("http://") {
            isSecure = false
            rest = rest.dropFirst(7)
        } else {
            isSecure = true
            if rest.lowercased().hasPrefix("https://") { rest = rest.dropFirst(8) }
        }
        guard rest.allSatisfy({ $0.isASCII && !$0.isWhitespace && !"?#@\\<>\"".contains($0) }) else { return nil }
        let authority = rest.prefix { $0 != "/" }
        path = rest.dropFirst(authority.count).split(separator: "/").map(String.init)
        let bracket = authority.lastIndex(of: "]")
        let end = authority.lastIndex(of: ":").flatMap { colon in bracket.map { $0 < colon } ?? true ? colon : nil }
        host = String(authority[..<(end ?? authority.endIndex)]).lowercased()
        if let end {
            guard let port = UInt16(authority[authority.index(after: end)...]), port != 0 else { return nil }
            self.port = port
        } else {
            port = nil
        }
        guard !host.isEmpty, !path.contains(".."), !host.dropFirst().contains("["),
            bracket == nil || host.hasPrefix("[")
        else { return nil }
    }

    /// The scheme, host and port, as a browser names the origin of a page.
    var origin: String { (isSecure ? "https://" : "http://") + host + (port.map { ":\($0)" } ?? "") }

    /// The URL, with a slash at its end.
    public var description: String { origin + "/" + path.map { $0 + "/" }.joined() }
}
