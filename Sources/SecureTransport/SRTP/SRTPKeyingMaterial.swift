package import RTCShareWireFormat

/// A master key and its salt, for one direction (RFC 3711 §3.2.1). It is secret: no description shows it, and the last
/// copy of this value wipes its memory.
package struct SRTPMasterKey: Equatable {
    /// The key, followed by the salt.
    private let secret: SecretBytes
    /// The length of the key in bytes.
    package let keyByteCount: Int
    /// The length of the salt in bytes.
    package var saltByteCount: Int { secret.byteCount - keyByteCount }

    /// Creates a key with its salt. The caller must wipe the arrays.
    package init(key: [UInt8], salt: [UInt8]) {
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

    /// Calls `body` with the key, followed by the salt.
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        secret.withUnsafeBytes(body)
    }
}

/// The SRTP keys of both directions from one DTLS handshake (RFC 5764 §4.2). They are secret: no description shows
/// them.
package struct SRTPKeyingMaterial: Equatable {
    /// The profile that uses the keys.
    package let profile: SRTPProfile
    /// The key for packets that this side sends.
    package let local: SRTPMasterKey
    /// The key for packets that the peer sends.
    package let remote: SRTPMasterKey

    /// Creates keying material from known keys.
    package init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) {
        self.profile = profile
        self.local = local
        self.remote = remote
    }

    /// The label under which DTLS exports the keys (RFC 5764 §4.2).
    package static let exporterLabel = "EXTRACTOR-dtls_srtp"

    /// Returns the number of bytes that DTLS must export for a profile.
    package static func exportedByteCount(_ profile: SRTPProfile) -> Int {
        2 * (profile.masterKeyByteCount + profile.masterSaltByteCount)
    }

    /// Splits exported bytes: the client's key, the server's key, the client's salt, the server's salt (RFC 5764 §4.2).
    package init(profile: SRTPProfile, role: DTLSRole, exported: RawSpan) throws(EndOfBytes) {
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
    /// The lengths only.
    package var description: String { "master key of \(keyByteCount) + \(saltByteCount) bytes" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
    /// A mirror without content, so that a dump of a value around it shows no key.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SRTPKeyingMaterial: CustomStringConvertible, CustomDebugStringConvertible {
    /// The profile only.
    package var description: String { "keys for \(profile)" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
}
