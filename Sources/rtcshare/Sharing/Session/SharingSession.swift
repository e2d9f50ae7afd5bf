internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareTransport

/// The session that `rtcshare offer` stores for `rtcshare send`: identity, local addresses, relayed addresses and
/// sources.
struct SharingSession: Codable, Sendable {
    /// The version of the file's layout. A file with another version belongs to another version of the program.
    private(set) var version = Self.currentVersion
    let createdAt: Date
    /// The id of the machine that made the offer. The local addresses are not usable on others.
    let host: String
    /// The attendee, the identity in the offer, and the local addresses.
    let session: StoredSession
    /// The sources that were selected for `offer`.
    let sources: SourceSelection

    /// The ICE transport policy that was selected for `offer`.
    let transportPolicy: String
    /// Whether host names in the answer are resolved by DNS, as selected for `offer`.
    let resolvesHostNames: Bool
    /// Whether the viewer can open TCP connections, as selected for `offer`.
    let acceptsTCP: Bool
    /// The STUN and TURN servers of `offer`, with their passwords.
    let servers: [ICEServer.Source]
    /// The relayed addresses in the offer, which their servers keep for `send`.
    let relays: [StoredRelay]

    static let currentVersion = 6
    /// The maximum age of a session. The viewer's browser times out long before, and the certificate expires later.
    static let maximumAge: TimeInterval = 24 * 3600

    /// The id of this machine.
    static var thisHost: String {
        let id = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        return id.map { $0.trimmed }.flatMap { $0.isEmpty ? nil : $0 }
            ?? ProcessInfo.processInfo.hostName
    }

    /// Decodes a session from the file's content.
    static func decode(_ data: Data) throws -> SharingSession { try JSONLayout.decoder.decode(Self.self, from: data) }

    /// Encodes the session for the file.
    func encoded() throws -> Data { try JSONLayout.encoder.encode(self) }
}

/// The format of a session's file.
enum JSONLayout {
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys]
        return encoder
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
