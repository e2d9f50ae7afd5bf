/// One object of a statistics report, as W3C webrtc-stats names and measures it.
///
/// Times are seconds, but for `timestamp`, which is milliseconds since 1 January 1970 (W3C hr-time).
public struct StatisticsObject: Sendable, Hashable {
    /// Unique in its report, and the same from report to report.
    public let id: String
    /// What kind of object this is.
    public let type: Kind
    /// When the values were read, in milliseconds since 1 January 1970.
    public let timestamp: Double
    /// The members by their names in the specification; what is unknown is absent.
    public private(set) var members: [String: Value]

    /// The object of a dictionary.
    init(
        _ dictionary: some StatisticsDictionary, type: Kind, additions: [any Encodable & Sendable], timestamp: Double
    ) {
        (id, self.type) = (dictionary.id, type)
        self.timestamp = timestamp
        let encoder = StatisticsEncoder()
        // The encoder throws nothing, and neither does a dictionary.
        try? dictionary.encode(to: encoder)
        for addition in additions { try? addition.encode(to: encoder) }
        members = encoder.members
        members["id"] = nil
    }

    /// The kinds that this library reports (W3C webrtc-stats §6.1).
    public enum Kind: String, Sendable {
        /// The codec of a stream.
        case codec
        /// An RTP stream that is sent.
        case outboundRTP = "outbound-rtp"
        /// What the peer reports on a stream that is sent.
        case remoteInboundRTP = "remote-inbound-rtp"
        /// An RTP stream that is received.
        case inboundRTP = "inbound-rtp"
        /// What the peer reports on a stream that it sends.
        case remoteOutboundRTP = "remote-outbound-rtp"
        /// Where received sound is heard.
        case mediaPlayout = "media-playout"
        /// Where frames come from.
        case mediaSource = "media-source"
        /// ICE and DTLS together.
        case transport
        /// A pair of addresses.
        case candidatePair = "candidate-pair"
        /// An address of this side.
        case localCandidate = "local-candidate"
        /// An address of the peer.
        case remoteCandidate = "remote-candidate"
    }

    /// A member's value.
    public enum Value: Sendable, Hashable {
        /// A count or a number of bytes.
        case integer(Int64)
        /// A measure.
        case number(Double)
        /// A name.
        case text(String)
        /// Yes or no.
        case flag(Bool)
        /// Measures by name.
        case record([String: Double])
    }

    /// The count of this name, where there is one.
    public func integer(_ name: String) -> Int64? {
        if case .integer(let value) = members[name] { value } else { nil }
    }

    /// The measure of this name, where there is one.
    public func number(_ name: String) -> Double? {
        switch members[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// The name under this name, where there is one.
    public func text(_ name: String) -> String? {
        if case .text(let value) = members[name] { value } else { nil }
    }
}

extension StatisticsObject: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Writes `id`, `type`, `timestamp` and the members side by side, as `getStats()` has them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id, forKey: Key(stringValue: "id"))
        try container.encode(type.rawValue, forKey: Key(stringValue: "type"))
        try container.encode(timestamp, forKey: Key(stringValue: "timestamp"))
        for (name, value) in members {
            let key = Key(stringValue: name)
            switch value {
            case .integer(let value): try container.encode(value, forKey: key)
            case .number(let value): try container.encode(value, forKey: key)
            case .text(let value): try container.encode(value, forKey: key)
            case .flag(let value): try container.encode(value, forKey: key)
            case .record(let value): try container.encode(value, forKey: key)
            }
        }
    }
}
