internal import RTCShareCCURL
internal import RTCShareWireFormat

/// An absolute URL of the web, as libcurl parses it (RFC 3986).
struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL without its fragment, user and password.
    let description: String
    /// The scheme, host and port.
    let origin: String
    /// The fragment after `#`.
    let fragment: String?
    /// Whether there was a user name or password.
    let hasUserInformation: Bool
    /// The host, with an IPv6 address in brackets.
    private let host: String
    /// The port, also if the URL has none.
    let port: Int

    /// Parses a URL; nil if it is not `http` or `https`.
    init?(_ text: String) {
        guard let url = Parts(text) else { return nil }
        self.init(url)
    }

    private init?(_ url: borrowing Parts) {
        guard let scheme = url[CURLUPART_SCHEME], scheme == "http" || scheme == "https", let host = url[CURLUPART_HOST]
        else { return nil }
        let port = url[CURLUPART_PORT].flatMap { Int($0) } ?? (scheme == "http" ? 80 : 443)
        origin = "\(scheme)://\(host.lowercased()):\(port)"
        fragment = url[CURLUPART_FRAGMENT]
        hasUserInformation = url[CURLUPART_USER] != nil || url[CURLUPART_PASSWORD] != nil
        self.host = host
        self.port = port
        for part in [CURLUPART_FRAGMENT, CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS] { url.remove(part) }
        guard let text = url[CURLUPART_URL] else { return nil }
        description = text
    }

    /// Resolves a reference relative to this URL (RFC 3986 §5).
    func resolving(_ reference: String) -> WebAddress? {
        // An empty reference, or only a fragment, is the URL itself (RFC 3986 §5.2.2): libcurl would remove the last
        // segment.
        if reference.isEmpty || reference.hasPrefix("#") { return WebAddress(description + reference) }
        guard let url = Parts(description), url.resolve(reference) else { return nil }
        return WebAddress(url)
    }

    /// Whether the connection is encrypted.
    var isSecure: Bool { origin.hasPrefix("https:") }

    /// Whether the host is this machine.
    var isLoopback: Bool { HostCheck.isLoopback(host: host) }

    /// The URL without the query, which may have secrets.
    var shown: String { String(description.prefix { $0 != "?" }) }

    /// The URL without the path and the query: the path may have a secret, too.
    var place: String { description.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//") }

    /// The host in the form for a resolver.
    var hostName: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// The host and port, in the form for a request (RFC 9110 §7.2).
    var authority: String { "\(host):\(port)" }

    /// The path and query, in the form for a request (RFC 9112 §3.2.1).
    var requestTarget: String { path + (Parts(description)?[CURLUPART_QUERY].map { "?\($0)" } ?? "") }

    /// The path, not decoded.
    var path: String { Parts(description)?[CURLUPART_PATH] ?? "/" }

    /// Returns the URL with more segments in its path.
    func appending(path more: String) -> WebAddress? {
        let base = path.hasSuffix("/") ? "" : (path.split(separator: "/").last.map { $0 + "/" } ?? "")
        return resolving(base + more)
    }

    /// libcurl's own form of a URL.
    private struct Parts: ~Copyable {
        let handle: OpaquePointer

        init?(_ text: String) {
            guard let handle = curl_url() else { return nil }
            guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else {
                curl_url_cleanup(handle)
                return nil
            }
            self.handle = handle
        }

        deinit { curl_url_cleanup(handle) }

        subscript(part: CURLUPart) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }

        borrowing func remove(_ part: CURLUPart) { curl_url_set(handle, part, nil, 0) }

        borrowing func resolve(_ reference: String) -> Bool {
            curl_url_set(handle, CURLUPART_URL, reference, 0) == CURLUE_OK
        }
    }
}
