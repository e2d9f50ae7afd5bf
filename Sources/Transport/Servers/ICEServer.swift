package import FoundationEssentials
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
    /// The credentials for relayed addresses; nil for a STUN server, and for a TURN server with a shared secret.
    package let credentials: LongTermCredentials?
    /// The arguments of ``init(urls:username:credential:)`` for the same server. It contains the password, but not a
    /// shared secret.
    package let source: Source
    /// The secret from which credentials are derived. Nil if the server has credentials, or needs none.
    private let secret: SharedSecret?

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
        guard parts.isRelay else {
            self.init(parts)
            return
        }
        guard let username = parts.username ?? username, let password = parts.password ?? credential else {
            throw .missingCredentials(url: parts.description)
        }
        guard let credentials = LongTermCredentials(username: username, password: password) else {
            throw .unusableCredentials(url: parts.description)
        }
        self.init(parts, credentials, source: Source(url: parts.description, username: username, password: password))
    }

    /// Parses a URL of a TURN server that shares a secret with this program (coturn's `use-auth-secret`). Each
    /// connection derives credentials from it (draft-uberti-behave-turn-rest). If it asks the server again after half of
    /// their lifetime, as for another route, it derives new ones.
    ///
    /// - Parameters:
    ///   - url: The URL. Its own user and password are used instead of the secret. A STUN server ignores the secret.
    ///   - sharedSecret: The secret.
    ///   - name: The user of this program's relayed addresses, which the server sees.
    ///   - lifetime: The lifetime of credentials, in whole seconds: a day at most, which is the default.
    public init(
        urls url: String, sharedSecret: String, name: String = "rtcshare", lifetime: Duration = .seconds(24 * 3600)
    ) throws(ICEServerError) {
        let parts = try ICEServerURL(url)
        guard parts.isRelay, parts.username == nil else {
            try self.init(urls: url)
            return
        }
        guard let secret = SharedSecret(sharedSecret, name: name, lifetime: lifetime) else {
            throw .unusableCredentials(url: parts.description)
        }
        self.init(parts, secret: secret)
    }

    private init(
        _ parts: ICEServerURL, _ credentials: LongTermCredentials? = nil, source: Source? = nil,
        secret: SharedSecret? = nil
    ) {
        host = parts.host
        port = parts.port
        transport = parts.transport
        self.credentials = credentials
        self.source = source ?? Source(url: parts.description)
        self.secret = secret
    }

    /// Creates the same server again.
    package init(_ source: Source) throws(ICEServerError) {
        try self.init(urls: source.url, username: source.username, credential: source.password)
    }

    /// Whether it is a TURN server.
    package var isRelay: Bool { credentials != nil || secret != nil }

    /// Whether it has all credentials that it needs, so that ``granted(to:now:)`` returns it without change.
    package var isGranted: Bool { secret == nil }

    /// The time for which credentials from a shared secret are valid. Nil if the server has no secret.
    package var credentialLifetime: TimeInterval? { (secret?.lifetime).map(TimeInterval.init) }

    /// Returns the server with a user's credentials from its shared secret, which expire after their lifetime from
    /// `now`. Without a secret, returns the server itself. The user is this program if nil.
    package func granted(to user: String? = nil, now: Date = Date()) -> ICEServer {
        guard let (username, password) = secret?.credentials(for: user, now: now),
            let granted = try? ICEServer(urls: source.url, username: username, credential: password)
        else { return self }
        return granted
    }

    /// Returns the server's addresses, of both families, in the order of the machine's resolver.
    package func resolve() async throws(ICEServerError) -> [ICEServerAddress] { try await resolve(by: .system) }

    func resolve(by names: ServerNames) async throws(ICEServerError) -> [ICEServerAddress] {
        let found = await names.addresses(of: host)
        guard !found.isEmpty else { throw names.failure(of: host) }
        return addresses(found)
    }

    /// Returns the addresses if they are known without waiting; nil while the name is being resolved.
    func resolveKnown(by names: ServerNames) throws(ICEServerError) -> [ICEServerAddress]? {
        guard let known = names.knownAddresses(of: host) else { return nil }
        guard !known.isEmpty else { throw names.failure(of: host) }
        return addresses(known)
    }

    /// Starts to resolve the server's name, so that connections don't have to wait for it.
    package func prepare() {
        _ = ServerNames.system.knownAddresses(of: host)
    }

    private func addresses(_ found: [IPAddress]) -> [ICEServerAddress] {
        let credentials = granted().credentials
        return found.map { ip in
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
