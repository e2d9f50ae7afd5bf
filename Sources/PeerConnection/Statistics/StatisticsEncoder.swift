internal import RTCShareMedia
internal import RTCShareWireFormat

/// Encodes dictionaries with their parts as the flat objects of `getStats()`.
///
/// Parts that count the same event in different places are added: the network, the decoder and the screen drop frames.
final class StatisticsEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private(set) var members: [String: StatisticsObject.Value] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        preconditionFailure("A dictionary of webrtc-stats has no lists")
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        preconditionFailure("A dictionary of webrtc-stats has members")
    }

    private func add(_ value: some Encodable, named name: String) throws {
        switch value {
        case let value as String: members[name] = .text(value)
        case let value as Bool: members[name] = .flag(value)
        case let value as Double: members[name] = .number(value)
        case let value as Duration: members[name] = .number(value.seconds)
        case let value as [QualityLimitationReason: Duration]:
            members[name] = .record(.init(uniqueKeysWithValues: value.map { ($0.rawValue, $1.seconds) }))
        case let value as any BinaryInteger:
            let count = Int64(clamping: value)
            if case .integer(let other) = members[name] {
                members[name] = .integer(other &+ count)
            } else {
                members[name] = .integer(count)
            }
        case let value as any RawRepresentable<String>: members[name] = .text(value.rawValue)
        default: try value.encode(to: self)
        }
    }

    /// The members of a dictionary or of one of its parts.
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: StatisticsEncoder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) {}

        func encode(_ value: some Encodable, forKey key: Key) throws {
            try encoder.add(value, named: key.stringValue)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { encoder.container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }
}
