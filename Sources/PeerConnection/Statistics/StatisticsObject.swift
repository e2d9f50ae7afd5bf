/// An object of a statistics report, with the names and units of W3C webrtc-stats.
///
/// Times are in seconds, except `timestamp`, which is in milliseconds since 1 January 1970 (W3C hr-time).
public struct StatisticsObject: Sendable, Hashable {
    /// An id that is unique in its report, and the same in later reports.
    public let id: String
    /// The type of the object.
    public let type: Kind
    /// The time of the values, in milliseconds since 1 January 1970.
    public let timestamp: Double
    /// The members by their names in the specification. Unknown ones are absent.
    public private(set) var members: [String: Value]

    /// Creates the object of a dictionary.
    init(
        _ dictionary: some StatisticsDictionary, type: Kind, additions: [any Encodable & Sendable], timestamp: Double
    ) {
        (id, self.type) = (dictionary.id, type)
        self.timestamp = timestamp
        let encoder = StatisticsEncoder()
        // Neither the encoder nor a dictionary throws errors.
        try? dictionary.encode(to: encoder)
        for addition in additions { try? addition.encode(to: encoder) }
        members = encoder.members
        members["id"] = nil
    }

    /// The types that this library reports (W3C webrtc-stats §6.1).
    public enum Kind: String, Sendable {
        /// The codec of a stream.
        case codec
        /// An RTP stream that is sent.
        case outboundRTP = "outbound-rtp"
        /// The peer's report on a sent stream.
        case remoteInboundRTP = "remote-inbound-rtp"
        /// An RTP stream that is received.
        case inboundRTP = "inbound-rtp"
        /// The peer's report on a stream that it sends.
        case remoteOutboundRTP = "remote-outbound-rtp"
        /// The playout of received audio.
        case mediaPlayout = "media-playout"
        /// The source of sent media.
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
        /// A measured value.
        case number(Double)
        /// A string.
        case text(String)
        /// A Boolean value.
        case flag(Bool)
        /// Measured values by name.
        case record([String: Double])
    }

    /// Returns the integer with this name, if there is one.
    public func integer(_ name: String) -> Int64? {
        if case .integer(let value) = members[name] { value } else { nil }
    }

    /// Returns the number with this name, if there is one.
    public func number(_ name: String) -> Double? {
        switch members[name] {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    /// Returns the string with this name, if there is one.
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

    /// Encodes `id`, `type`, `timestamp` and the members as one object, as in `getStats()`.
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
