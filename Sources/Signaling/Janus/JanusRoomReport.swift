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
    /// The subscriber's stream whose layer has changed, and the layer, zero for the lowest.
    var mid: String?
    var substream: Int?

    struct Participant: Decodable, Sendable {
        let id: JanusID
        var display: String?
        var publisher: Bool?
    }

    struct Room: Decodable, Sendable {
        let room: JanusID
        /// The maximum bitrate of a publisher in bit/s; 0 for no limit.
        var bitrate: Int?
        /// The names of the video codecs, with commas between them.
        var videocodec: String?

        /// The names of the video codecs as descriptions have them.
        var videoCodecs: [String] {
            (videocodec ?? "").split(separator: ",").map { $0.uppercased() }
        }
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
        case videoroom, error, leaving, reason, participants, list, streams, mid, substream
        case errorCode = "error_code"
    }
}
