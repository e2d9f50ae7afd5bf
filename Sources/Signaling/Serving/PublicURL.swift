/// Where viewers from elsewhere find a server: scheme, host, and perhaps a port and a path.
public struct PublicURL: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is `https`.
    public let isSecure: Bool
    /// The host's name or address, as it stands in the URL.
    public let host: String
    /// The port; nil for the scheme's own.
    public let port: UInt16?
    /// The parts of the path.
    public let path: [String]

    /// Reads a URL; without scheme it is taken for `https`.
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

    /// Scheme, host and port, as a browser names the origin of a page.
    var origin: String { (isSecure ? "https://" : "http://") + host + (port.map { ":\($0)" } ?? "") }

    /// The URL, with a slash at its end.
    public var description: String { origin + "/" + path.map { $0 + "/" }.joined() }
}
