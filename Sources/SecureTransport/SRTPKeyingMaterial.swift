public import WireFormat

/// A master key and its salt, for one direction (RFC 3711 §3.2.1). Secret: no description shows it.
public struct SRTPMasterKey: Hashable, Sendable {
    /// The key.
    public let key: [UInt8]
    /// The salt.
    public let salt: [UInt8]

    /// A key with its salt.
    public init(key: [UInt8], salt: [UInt8]) {
        self.key = key
        self.salt = salt
    }
}

/// The SRTP keys of both directions, as one DTLS handshake makes them (RFC 5764 §4.2). Secret: no description shows them.
public struct SRTPKeyingMaterial: Hashable, Sendable {
    /// How SRTP protects with them.
    public let profile: SRTPProfile
    /// For what this side sends.
    public let local: SRTPMasterKey
    /// For what the peer sends.
    public let remote: SRTPMasterKey

    /// Keys that are known already.
    public init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) {
        self.profile = profile
        self.local = local
        self.remote = remote
    }

    /// The label under which DTLS exports the keys (RFC 5764 §4.2).
    public static let exporterLabel = "EXTRACTOR-dtls_srtp"

    /// How many bytes DTLS has to export for a profile.
    public static func exportedByteCount(_ profile: SRTPProfile) -> Int {
        2 * (profile.masterKeyByteCount + profile.masterSaltByteCount)
    }

    /// Splits exported bytes: the client's key, the server's key, the client's salt, the server's salt (RFC 5764 §4.2).
    public init(profile: SRTPProfile, role: DTLSRole, exported: RawSpan) throws(EndOfBytes) {
        var reader = ByteReader(exported)
        let clientKey = try reader.readArray(profile.masterKeyByteCount)
        let serverKey = try reader.readArray(profile.masterKeyByteCount)
        let client = SRTPMasterKey(key: clientKey, salt: try reader.readArray(profile.masterSaltByteCount))
        let server = SRTPMasterKey(key: serverKey, salt: try reader.readArray(profile.masterSaltByteCount))
        switch role {
        case .client: self.init(profile: profile, local: client, remote: server)
        case .server: self.init(profile: profile, local: server, remote: client)
        }
    }
}

extension SRTPMasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Lengths only.
    public var description: String { "master key of \(key.count) + \(salt.count) bytes" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Holds nothing, so that a dump of a value around it shows no key.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SRTPKeyingMaterial: CustomStringConvertible, CustomDebugStringConvertible {
    /// The profile only.
    public var description: String { "keys for \(profile)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
}
