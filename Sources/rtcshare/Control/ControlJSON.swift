internal import FoundationEssentials

/// The result of a change, as a sentence; nil if there is nothing to report.
struct ControlNotice: Codable, Hashable, Sendable {
    let notice: String?
}

/// W3C's `RTCSessionDescriptionInit`, with the viewer that it is for or from.
struct ControlDescription: Codable, Hashable, Sendable {
    /// The viewer; nil for the answer of the only invited viewer.
    var viewer: Int?
    let type: SessionDescriptionType
    let sdp: String

    enum SessionDescriptionType: String, Codable {
        case offer, answer
    }
}

/// The links of a share, best first.
struct ControlLinks: Codable, Hashable, Sendable {
    let links: [String]
}

/// Messages as JSON.
enum ControlJSON {
    static func encode(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return [UInt8](try encoder.encode(message))
    }

    static func decode<Message: Decodable>(_ type: Message.Type, from text: some Collection<UInt8>) throws -> Message {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(text))
    }
}
