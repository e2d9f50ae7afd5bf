internal import RTCShareSTUN
internal import RTCShareWireFormat

/// The attributes with which a STUN server helps to find out the behavior of a NAT (RFC 5780 §7).
enum BehaviorDiscovery {
    /// The part of the server's address that its answer must change.
    enum Change: UInt8 {
        case port = 2
        case addressAndPort = 6
    }

    static let changeRequest = AttributeType(rawValue: 0x0003)
    static let otherAddress = AttributeType(rawValue: 0x802C)

    /// Returns the attribute CHANGE-REQUEST (RFC 5780 §7.2).
    static func attribute(for change: Change) -> Attribute {
        .unknown(changeRequest, [0, 0, 0, change.rawValue])
    }

    /// Returns the OTHER-ADDRESS, from which the server can answer too; nil if there is none (RFC 5780 §7.4).
    static func otherAddress(in message: STUNMessage) -> TransportAddress? {
        for case .unknown(otherAddress, let value) in message.attributes {
            var reader = ByteReader(value.span.bytes)
            guard (try? reader.skip(1)) != nil, let family = try? reader.readUInt8(),
                let port = try? reader.readUInt16(), port > 0
            else { return nil }
            if family == 1, value.count == 8, let ip = try? reader.readUInt32() {
                return TransportAddress(ip: .v4(ip), port: port)
            }
            if family == 2, value.count == 20, let high = try? reader.readUInt64(), let low = try? reader.readUInt64() {
                return TransportAddress(ip: .v6(high, low), port: port)
            }
        }
        return nil
    }
}
