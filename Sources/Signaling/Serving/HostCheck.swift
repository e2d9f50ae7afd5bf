internal import RTCShareWireFormat

/// The names under which clients may use a server. Requests of a foreign page whose name resolves to this machine are
/// rejected (DNS rebinding).
package struct HostCheck: Sendable {
    private let names: Set<String>

    /// Accepts these names, in addition to all addresses and the names of localhost.
    init(names: some Sequence<String>) {
        self.names = Set(names.map { Self.normal($0) })
    }

    /// Returns whether a `Host` header, with or without a port, names this server.
    func accepts(host header: String?) -> Bool {
        guard let header, let host = Self.host(of: header) else { return false }
        if IPAddress(host.prefix { $0 != "%" }) != nil { return true }
        return host == "localhost" || host.hasSuffix(".localhost") || names.contains(host)
    }

    /// Returns whether a `Host` header names this machine as localhost or by a loopback address.
    package static func isLoopback(host header: String?) -> Bool {
        guard let host = header.flatMap(Self.host) else { return false }
        return host == "localhost" || IPAddress(host)?.isLoopback == true
    }

    /// Returns whether an `Origin` header is that of this server's own pages.
    static func isOwn(origin: String, host header: String?) -> Bool {
        guard let header, let authority = origin.split(separator: "//", maxSplits: 1).last else { return false }
        return normal(authority) == normal(header)
    }

    /// Returns the host of an authority, without its port and its brackets.
    private static func host(of authority: String) -> String? {
        let text = normal(authority)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return String(text[text.index(after: text.startIndex)..<end])
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.first, !host.isEmpty else { return nil }
        return String(host)
    }

    private static func normal(_ name: some StringProtocol) -> String {
        let text = name.lowercased()
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
