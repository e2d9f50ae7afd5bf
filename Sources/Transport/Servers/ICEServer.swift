package import RTCShareICE
package import RTCShareSTUN
package import RTCShareWireFormat

/// A STUN or TURN server with its URL (RFC 7064 `stun:`, RFC 7065 `turn:` and `turns:`) and the credentials of its
/// user. No description of it contains the password.
public struct ICEServer: Sendable, Hashable {
    /// The server's name or address.
    public let host: String
    /// The port: 3478 if the URL has none, 5349 for `turns:`.
    public let port: UInt16
    /// The transport of its messages.
    package let transport: TransportProtocol
    /// The credentials for relayed addresses; nil for a STUN server.
    package let credentials: LongTermCredentials?
    /// The arguments of ``init(url:username:password:)`` for the same server. It contains the password.
    package let source: Source

    /// A URL and credentials, as in a file that only its owner can read.
    package struct Source: Sendable, Hashable, Codable {
        package var url: String
        package var username: String?
        package var password: String?
    }

    /// The default port of `stun:` and `turn:`.
    public static let defaultPort: UInt16 = 3478
    /// The default port of `turns:`.
    public static let defaultSecurePort: UInt16 = 5349

    /// Parses a URL. It can have a user and a password before the host, `turn:USER:PASSWORD@HOST`, percent-encoded. If
    /// it has none, the arguments apply to TURN servers, and STUN servers ignore them. Each URL is a separate server.
    public init(urls url: String, username: String? = nil, credential: String? = nil) throws(ICEServerError) {
        let parts = try ICEServerURL(url)
        let description = parts.description
        host = parts.host
        port = parts.port
        transport = parts.transport
        guard parts.isRelay else {
            credentials = nil
            source = Source(url: description)
            return
        }
        guard let username = parts.username ?? username, let password = parts.password ?? credential else {
            throw .missingCredentials(url: description)
        }
        guard let credentials = LongTermCredentials(username: username, password: password) else {
            throw .unusableCredentials(url: description)
        }
        self.credentials = credentials
        source = Source(url: description, username: username, password: password)
    }

    /// Creates the same server again.
    package init(_ source: Source) throws(ICEServerError) {
        try self.init(urls: source.url, username: source.username, credential: source.password)
    }

    /// Returns the server's addresses, of both families, in the order of the machine's resolver.
    package func resolve() async throws(ICEServerError) -> [ICEServerAddress] { try await resolve(by: .system) }

    func resolve(by names: ServerNames) async throws(ICEServerError) -> [ICEServerAddress] {
        let found = if let address = IPAddress(host) { [address] } else { await names.addresses(of: host) }
        guard !found.isEmpty else { throw names.failure(of: host) }
        return addresses(found)
    }

    /// Returns the addresses if they are known without waiting; nil while the name is being resolved.
    func resolveKnown(by names: ServerNames) throws(ICEServerError) -> [ICEServerAddress]? {
        if let address = IPAddress(host) { return addresses([address]) }
        guard let known = names.knownAddresses(of: host) else { return nil }
        guard !known.isEmpty else { throw names.failure(of: host) }
        return addresses(known)
    }

    /// Starts to resolve the server's name, so that connections don't have to wait for it.
    package func prepare() {
        if IPAddress(host) == nil { _ = ServerNames.system.knownAddresses(of: host) }
    }

    private func addresses(_ found: [IPAddress]) -> [ICEServerAddress] {
        found.map { ip in
            ICEServerAddress(
                kind: credentials.map { .turn($0) } ?? .stun, address: TransportAddress(ip: ip, port: port),
                transport: transport, url: description)
        }
    }
}

extension ICEServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL, without user and password.
    public var description: String { source.url }
    /// The URL, without user and password.
    public var debugDescription: String { description }
    /// The URL, without user and password.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

extension ICEServer.Source: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { url }
    package var debugDescription: String { url }
    package var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}
