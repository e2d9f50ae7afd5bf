public import RTCShareWireFormat

/// A master key and its salt, for one direction (RFC 3711 §3.2.1). Secret: no description shows it, and its memory is
/// wiped with the last copy of this value.
public struct SRTPMasterKey: Equatable {
    /// The key, then the salt.
    private let secret: SecretBytes
    /// Length of the key in bytes.
    public let keyByteCount: Int
    /// Length of the salt in bytes.
    public var saltByteCount: Int { secret.byteCount - keyByteCount }

    /// A key with its salt. The arrays are the caller's to wipe.
    public init(key: [UInt8], salt: [UInt8]) {
        self.init(key: key.span.bytes, salt: salt.span.bytes)
    }

    init(key: RawSpan, salt: RawSpan) {
        let secret = SecretBytes(byteCount: key.byteCount + salt.byteCount)
        secret.withUnsafeMutableBytes { memory in
            key.withUnsafeBytes { memory.copyMemory(from: $0) }
            salt.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: memory[key.byteCount...]).copyMemory(from: $0)
            }
        }
        self.secret = secret
        keyByteCount = key.byteCount
    }

    /// Lends the key, followed by the salt, for as long as `body` runs.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        secret.withUnsafeBytes(body)
    }
}

/// The SRTP keys of both directions, as one DTLS handshake makes them (RFC 5764 §4.2). Secret: no description shows them.
public struct SRTPKeyingMaterial: Equatable {
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
        let (key, salt) = (profile.masterKeyByteCount, profile.masterSaltByteCount)
        var reader = ByteReader(exported)
        try reader.skip(Self.exportedByteCount(profile))
        let client = SRTPMasterKey(
            key: exported.extracting(0..<key), salt: exported.extracting(2 * key..<2 * key + salt))
        let server = SRTPMasterKey(
            key: exported.extracting(key..<2 * key), salt: exported.extracting(2 * key + salt..<2 * (key + salt)))
        switch role {
        case .client: self.init(profile: profile, local: client, remote: server)
        case .server: self.init(profile: profile, local: server, remote: client)
        }
    }
}

extension SRTPMasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Lengths only.
    public var description: String { "master key of \(keyByteCount) + \(saltByteCount) bytes" }
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
