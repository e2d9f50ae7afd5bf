internal import FoundationEssentials

/// The id of a room or of a participant: a number, or a text if Janus was configured with `string_ids`.
public enum JanusID: Hashable, Sendable, CustomStringConvertible {
    /// The default form.
    case number(UInt64)
    /// The form with `string_ids`.
    case name(String)

    /// Parses a user's input: only digits are a number.
    public init(_ text: String) {
        self = text.allSatisfy(\.isASCII) ? UInt64(text).map { .number($0) } ?? .name(text) : .name(text)
    }

    /// The id as users write it.
    public var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .name(let name): name
        }
    }

    /// The id as a text.
    var asName: Self { .name(description) }
}

extension JanusID: Codable {
    /// Decodes a number or a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try (try? container.decode(UInt64.self)).map { .number($0) } ?? .name(container.decode(String.self))
    }

    /// Encodes a number or a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .name(let name): try container.encode(name)
        }
    }
}

/// A description in the format of Janus.
struct JanusDescription: Codable, Sendable {
    let type: String
    let sdp: String
    /// Whether candidates follow that it does not have.
    var trickle: Bool?
}

/// A candidate in the format of Janus, or the end of candidates.
struct JanusCandidate: Encodable, Sendable {
    var sdpMid: String?
    var candidate: String?
    var completed: Bool?
}

/// A request to Janus, with all possible members.
struct JanusRequest: Encodable, Sendable {
    var janus: String
    var transaction = ""
    var sessionID: UInt64?
    var handleID: UInt64?
    var secret: String?
    var token: String?
    var plugin: String?
    var body: JanusRoomRequest?
    var description: JanusDescription?
    var candidate: JanusCandidate?

    init(_ janus: String) { self.janus = janus }

    enum CodingKeys: String, CodingKey {
        case janus, transaction, token, plugin, body, candidate
        case sessionID = "session_id"
        case handleID = "handle_id"
        case secret = "apisecret"
        case description = "jsep"
    }
}

/// A request to the VideoRoom plugin, with all possible members.
struct JanusRoomRequest: Encodable, Sendable {
    var request: String
    var room: JanusID?
    var ptype: String?
    var display: String?
    var pin: String?
    var token: String?
    /// The maximum bitrate of a publisher in bit/s.
    var bitrate: Int?
    /// The publishers whose media a subscriber receives.
    var streams: [Feed]?
    /// Whether a subscriber's ICE restarts.
    var restart: Bool?

    struct Feed: Encodable, Sendable {
        let feed: JanusID
    }

    init(_ request: String, _ room: JanusID? = nil, _ credentials: JanusCredentials = JanusCredentials()) {
        (self.request, self.room) = (request, room)
        (pin, token) = (credentials.pin, credentials.token)
    }
}

/// A message from Janus, with all members that are used here.
struct JanusMessage: Decodable, Sendable {
    var janus: String
    var transaction: String?
    var sender: UInt64?
    var data: Identified?
    var error: Refusal?
    var plugindata: PluginData?
    var description: JanusDescription?
    /// The reason for the end of a connection.
    var reason: String?
    /// The number of missed packets, of those that the client sends if `uplink` is true.
    var lost: Int?
    var uplink: Bool?

    struct Identified: Decodable, Sendable {
        let id: UInt64
    }

    struct Refusal: Decodable, Sendable {
        let code: Int
        let reason: String?
    }

    struct PluginData: Decodable, Sendable {
        let data: JanusRoomReport
    }

    /// The maximum number of packets that a connection can lose between two reports: a server can send any number.
    private static let mostPacketsLost = 1 << 16

    /// The number of missed packets, limited to a plausible one.
    var packetsLost: Int { min(max(lost ?? 0, 0), Self.mostPacketsLost) }

    enum CodingKeys: String, CodingKey {
        case janus, transaction, sender, data, error, plugindata, reason, lost, uplink
        case description = "jsep"
    }
}

/// An event of the VideoRoom plugin, with all members that are used here.
struct JanusRoomReport: Decodable, Sendable {
    /// The kind: `joined`, `attached`, `updated`, `event`, `destroyed`, …
    var videoroom: String
    var errorCode: Int?
    var error: String?
    /// `ok` for this handle, or the id of another.
    var leaving: JanusID?
    var reason: String?
    var participants: [Participant]?
    /// The listed rooms.
    var list: [Room]?
    /// The streams of a subscriber.
    var streams: [Stream]?

    struct Participant: Decodable, Sendable {
        let id: JanusID
        var display: String?
        var publisher: Bool?
    }

    struct Room: Decodable, Sendable {
        let room: JanusID
        /// The maximum bitrate of a publisher in bit/s; 0 for no limit.
        var bitrate: Int?
    }

    struct Stream: Decodable, Sendable {
        var mid: String?
        /// The publisher's id; nil after it has left.
        var feedID: JanusID?
        var feedDisplay: String?

        enum CodingKeys: String, CodingKey {
            case mid
            case feedID = "feed_id"
            case feedDisplay = "feed_display"
        }
    }

    enum CodingKeys: String, CodingKey {
        case videoroom, error, leaving, reason, participants, list, streams
        case errorCode = "error_code"
    }
}
