internal import RTCShareWireFormat

/// The parts of a `stun:`, `turn:` or `turns:` URL (RFC 7064 §3.1, RFC 7065 §3.1), and a user name and password before
/// the host, as users write them.
struct ICEServerURL: CustomStringConvertible {
    let isRelay: Bool
    let host: String
    let port: UInt16
    let transport: TransportProtocol
    let username: String?
    let password: String?

    init(_ url: String) throws(ICEServerError) {
        let shown = Self.redacted(url)
        func refuse(_ reason: ICEServerError.Reason) -> ICEServerError { .invalidURL(shown, reason: reason) }
        guard let colon = url.firstIndex(of: ":") else { throw refuse(.scheme) }
        let scheme = url[..<colon].lowercased()
        switch scheme {
        case "stun", "turn", "turns": break
        case "stuns": throw refuse(.secureSTUN)
        default: throw refuse(.scheme)
        }
        isRelay = scheme != "stun"
        var rest = url[url.index(after: colon)...]
        (username, password, rest) = try Self.userInformation(rest, refuse)
        guard isRelay || username == nil else { throw refuse(.needlessCredentials) }

        let query = rest.firstIndex(of: "?").map { rest[$0...].dropFirst() }
        if let query { rest = rest[..<rest.index(before: query.startIndex)] }
        transport = try Self.transport(query.map(String.init), scheme: scheme, refuse)
        (host, port) = try Self.hostAndPort(rest, scheme: scheme, refuse)
    }

    /// Splits off the user name and password. The last `@` ends them, so that an unencoded one does not become part of
    /// the host.
    private static func userInformation(
        _ text: Substring, _ refuse: (ICEServerError.Reason) -> ICEServerError
    ) throws(ICEServerError) -> (String?, String?, Substring) {
        guard let at = text.lastIndex(of: "@") else { return (nil, nil, text) }
        let parts = text[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let username = parts[0].percentDecoded, let password = parts[1].percentDecoded,
            !username.isEmpty, !password.isEmpty
        else { throw refuse(.userInformation) }
        return (username, password, text[text.index(after: at)...])
    }

    private static func transport(
        _ query: String?, scheme: String, _ refuse: (ICEServerError.Reason) -> ICEServerError
    ) throws(ICEServerError) -> TransportProtocol {
        let isSecure = scheme == "turns"
        guard let query else { return isSecure ? .tls : .udp }
        guard scheme != "stun" else { throw refuse(.query) }
        switch query.lowercased() {
        case "transport=tcp": return isSecure ? .tls : .tcp
        case "transport=udp":
            if isSecure { throw refuse(.secureDatagrams) }
            return .udp
        default: throw refuse(.query)
        }
    }

    private static func hostAndPort(
        _ text: Substring, scheme: String, _ refuse: (ICEServerError.Reason) -> ICEServerError
    ) throws(ICEServerError) -> (String, UInt16) {
        let isBracketed = text.hasPrefix("[")
        let end =
            isBracketed ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let name = text[..<(end ?? text.endIndex)]
        let tail = text[name.endIndex...]
        let host = isBracketed ? name.dropFirst().dropLast() : name
        guard !host.isEmpty, !isBracketed || name.hasSuffix("]") && IPAddress(host).map({ !$0.isV4 }) == true,
            host.allSatisfy({ !"/?#[]@%".contains($0) && !$0.isWhitespace })
        else { throw refuse(.host) }
        guard !tail.isEmpty else {
            return (String(host), scheme == "turns" ? ICEServer.defaultSecurePort : ICEServer.defaultPort)
        }
        let digits = tail.dropFirst()
        // `UInt16` also parses a sign.
        guard tail.first == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits), port > 0
        else {
            // The text in a port's place may be a password without its `@HOST`.
            throw .invalidURL("\(scheme):\(name):…", reason: .port)
        }
        return (String(host), port)
    }

    /// Returns the text without a possible password: everything between the scheme and the last `@`.
    static func redacted(_ url: String) -> String {
        guard let at = url.lastIndex(of: "@") else { return url }
        let scheme = url.firstIndex(of: ":").map { url[...$0] } ?? ""
        return scheme.endIndex <= at ? scheme + "…" + url[at...] : "…" + url[at...]
    }

    /// The URL without defaults, and without user name and password.
    var description: String {
        let scheme = isRelay ? (transport == .tls ? "turns" : "turn") : "stun"
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme):\(name):\(port)" + (transport == .tcp ? "?transport=tcp" : "")
    }
}
