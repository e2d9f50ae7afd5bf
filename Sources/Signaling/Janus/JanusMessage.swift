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
    @Lenient var reason: String?
    /// The number of missed packets, of those that the client sends if `uplink` is true.
    @Lenient var lost: Int?
    @Lenient var uplink: Bool?

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
