internal import FoundationEssentials
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The result of a change, as a sentence; nil if there is nothing to report.
struct ControlNotice: Codable, Hashable, Sendable {
    let notice: String?
}

/// W3C's `RTCSessionDescriptionInit`, with the viewer that it is for or from.
struct ControlDescription: Codable, Hashable, Sendable {
    /// The viewer; nil for the answer of the only invited viewer, and for a preview.
    var viewer: Int?
    let type: SessionDescriptionType
    let sdp: String

    enum SessionDescriptionType: String, Codable {
        case offer, answer
    }
}

/// Whether viewers on the internet can join a share of this machine.
struct ControlRouter: Codable, Hashable, Sendable {
    /// Whether a share with `isOnInternet` has a link for them.
    let forwards: Bool
    /// The reason why it has none.
    var problem: String?
    var remedy: String?

    init(_ diagnosis: RouterDiagnosis) {
        let explanation = diagnosis.explanation
        (forwards, problem, remedy) = (explanation == nil, explanation?.problem, explanation?.remedy)
    }
}

/// The links of a share, best first.
struct ControlLinks: Codable, Hashable, Sendable {
    struct Place: Codable, Hashable, Sendable {
        /// The network in which a link works.
        enum Reach: String, Codable, Sendable {
            case everywhere, network, machine
        }

        let url: String
        let reach: Reach
    }

    let links: [String]
    let places: [Place]

    init(_ places: [Place]) { (links, self.places) = (places.map(\.url), places) }
}

extension ControlLinks.Place {
    init(_ link: ViewerLink) {
        let reach: Reach =
            switch link.reach {
            case .everywhere: .everywhere
            case .network: .network
            case .machine: .machine
            }
        self.init(url: link.url, reach: reach)
    }
}

/// The rates of the last minutes.
struct ControlHistory: Codable, Hashable, Sendable {
    /// The seconds between two samples.
    var interval = 1
    let samples: [ShareHistory.Sample]
}

/// The presenter's page.
struct ControlPage: Codable, Hashable, Sendable {
    /// The link, with the secret of the page.
    let url: String
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
