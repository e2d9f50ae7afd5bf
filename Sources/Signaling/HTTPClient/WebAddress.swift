internal import RTCShareCCURL
internal import RTCShareWireFormat

/// An absolute URL of the web, as libcurl reads it (RFC 3986).
struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL without its fragment, user and password.
    let description: String
    /// Scheme, host and port.
    let origin: String
    /// What stands behind `#`.
    let fragment: String?
    /// Whether user or password stood before the host.
    let hasUserInformation: Bool
    /// The host, an address of IPv6 in brackets.
    private let host: String
    /// The port, also where the URL says none.
    let port: Int

    /// Reads a URL; nil for what is none of `http` and `https`.
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

    /// The URL that a reference stands for which came from this one (RFC 3986 §5).
    func resolving(_ reference: String) -> WebAddress? {
        // Nothing, or only a fragment, is the URL itself (RFC 3986 §5.2.2): libcurl would leave the last segment out.
        if reference.isEmpty || reference.hasPrefix("#") { return WebAddress(description + reference) }
        guard let url = Parts(description), url.resolve(reference) else { return nil }
        return WebAddress(url)
    }

    /// Whether what goes there is encrypted.
    var isSecure: Bool { origin.hasPrefix("https:") }

    /// Whether it is this machine's.
    var isLoopback: Bool { HostCheck.isLoopback(host: host) }

    /// The URL without what stands behind its path, where secrets may be.
    var shown: String { String(description.prefix { $0 != "?" }) }

    /// The host as a resolver takes it.
    var hostName: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    /// Host and port, as a request names them (RFC 9110 §7.2).
    var authority: String { "\(host):\(port)" }

    /// Path and query, as a request asks for them (RFC 9112 §3.2.1).
    var requestTarget: String { path + (Parts(description)?[CURLUPART_QUERY].map { "?\($0)" } ?? "") }

    /// The path, as it stands in the URL.
    var path: String { Parts(description)?[CURLUPART_PATH] ?? "/" }

    /// The same with more behind its path.
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
