/// An event of the VideoRoom plugin, with all members that are used here. Those of another type than Janus', of other
/// servers, are nil, since they must not end a session.
struct JanusRoomReport: Decodable, Sendable {
    /// The kind: `joined`, `attached`, `updated`, `event`, `destroyed`, …
    var videoroom: String
    var errorCode: Int?
    @Lenient var error: String?
    /// `ok` for this handle, or the id of another.
    @Lenient var leaving: JanusID?
    @Lenient var reason: String?
    @Lenient var participants: [Participant]?
    /// The listed rooms.
    @Lenient var list: [Room]?
    /// The streams of a subscriber.
    @Lenient var streams: [Stream]?
    /// The subscriber's stream whose layer has changed, and the layer, zero for the lowest.
    @Lenient var mid: String?
    @Lenient var substream: Int?

    struct Participant: Decodable, Sendable {
        let id: JanusID
        @Lenient var display: String?
        @Lenient var publisher: Bool?
    }

    struct Room: Decodable, Sendable {
        let room: JanusID
        /// The maximum bitrate of a publisher in bit/s; 0 for no limit.
        @Lenient var bitrate: Int?
        /// The names of the video codecs, with commas between them.
        @Lenient var videocodec: String?

        /// The names of the video codecs as descriptions have them.
        var videoCodecs: [String] {
            (videocodec ?? "").split(separator: ",").map { $0.uppercased() }
        }
    }

    struct Stream: Decodable, Sendable {
        @Lenient var mid: String?
        /// The publisher's id; nil after it has left.
        var feedID: JanusID?
        @Lenient var feedDisplay: String?

        enum CodingKeys: String, CodingKey {
            case mid
            case feedID = "feed_id"
            case feedDisplay = "feed_display"
        }
    }

    enum CodingKeys: String, CodingKey {
        case videoroom, error, leaving, reason, participants, list, streams, mid, substream
        case errorCode = "error_code"
    }
}

extension JanusRoomReport {
    /// The participants who publish.
    var publishers: [Participant] { (participants ?? []).filter { $0.publisher == true } }

    /// Returns the newest publisher of a name or id.
    func publisher(named name: String) -> Participant? {
        publishers.last { $0.display == name || $0.id.description == name }
    }
}

/// A member that is nil if it is missing or has another type.
@propertyWrapper struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) { wrappedValue = try? Value(from: decoder) }
}

extension KeyedDecodingContainer {
    func decode<Value>(_ type: Lenient<Value>.Type, forKey key: Key) throws -> Lenient<Value> {
        try decodeIfPresent(type, forKey: key) ?? Lenient(wrappedValue: nil)
    }
}
