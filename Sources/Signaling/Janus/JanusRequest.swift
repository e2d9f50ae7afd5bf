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
    /// The publishers whose media a subscriber receives, or its streams whose layers it chooses.
    var streams: [Stream]?
    /// Whether a subscriber's ICE restarts.
    var restart: Bool?

    struct Stream: Encodable, Sendable {
        /// The publisher.
        var feed: JanusID?
        /// The `a=mid` of a subscriber's stream.
        var mid: String?
        /// The layer of a simulcast, zero for the lowest.
        var substream: Int?
    }

    init(_ request: String, _ room: JanusID? = nil, _ credentials: JanusCredentials = JanusCredentials()) {
        (self.request, self.room) = (request, room)
        (pin, token) = (credentials.pin, credentials.token)
    }
}
