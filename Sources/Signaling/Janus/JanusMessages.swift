internal import FoundationEssentials

/// What names a room or somebody in it: a number, or a text where Janus was set up with `string_ids`.
public enum JanusID: Hashable, Sendable, CustomStringConvertible {
    /// As rooms have it by default.
    case number(UInt64)
    /// As they have it with `string_ids`.
    case name(String)

    /// What a person writes: digits alone are a number.
    public init(_ text: String) {
        self = text.allSatisfy(\.isASCII) ? UInt64(text).map { .number($0) } ?? .name(text) : .name(text)
    }

    /// The id as a person writes it.
    public var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .name(let name): name
        }
    }

    /// The same as a text.
    var asName: Self { .name(description) }
}

extension JanusID: Codable {
    /// Reads a number or a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try (try? container.decode(UInt64.self)).map { .number($0) } ?? .name(container.decode(String.self))
    }

    /// Writes a number or a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .name(let name): try container.encode(name)
        }
    }
}

/// A description as Janus carries it.
struct JanusDescription: Codable, Sendable {
    let type: String
    let sdp: String
    /// Whether candidates follow that are not in it.
    var trickle: Bool?
}

/// A candidate as Janus carries it, or that there are no more.
struct JanusCandidate: Encodable, Sendable {
    var sdpMid: String?
    var candidate: String?
    var completed: Bool?
}

/// A request to Janus: each has some of these.
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

/// A request to the VideoRoom plugin: each has some of these.
struct JanusRoomRequest: Encodable, Sendable {
    var request: String
    var room: JanusID?
    var ptype: String?
    var display: String?
    var pin: String?
    var token: String?
    /// The most that a publisher is asked to send, in bit/s.
    var bitrate: Int?
    /// Whose media a subscriber gets.
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

/// What Janus says: each has some of these, and others that nobody here asks for.
struct JanusMessage: Decodable, Sendable {
    var janus: String
    var transaction: String?
    var sender: UInt64?
    var data: Identified?
    var error: Refusal?
    var plugindata: PluginData?
    var description: JanusDescription?
    /// Why a connection was hung up.
    var reason: String?
    /// The packets that are missed, of what a client sends where `uplink` says so.
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

    /// More packets than any connection loses between two reports: a server can send any number.
    private static let mostPacketsLost = 1 << 16

    /// The packets that are missed, as many as there can be.
    var packetsLost: Int { min(max(lost ?? 0, 0), Self.mostPacketsLost) }

    enum CodingKeys: String, CodingKey {
        case janus, transaction, sender, data, error, plugindata, reason, lost, uplink
        case description = "jsep"
    }
}

/// What the VideoRoom plugin says: each has some of these.
struct JanusRoomReport: Decodable, Sendable {
    /// `joined`, `attached`, `updated`, `event`, `destroyed`, …
    var videoroom: String
    var errorCode: Int?
    var error: String?
    /// `ok` for this handle, or the id of another.
    var leaving: JanusID?
    var reason: String?
    var participants: [Participant]?
    /// The rooms that are listed.
    var list: [Room]?
    /// What a subscriber gets.
    var streams: [Stream]?

    struct Participant: Decodable, Sendable {
        let id: JanusID
        var display: String?
        var publisher: Bool?
    }

    struct Room: Decodable, Sendable {
        let room: JanusID
        /// What a publisher is to send at most, in bit/s; 0 for no bound.
        var bitrate: Int?
    }

    struct Stream: Decodable, Sendable {
        var mid: String?
        /// Whose it is; nil once that one is gone.
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
