/// The number of an attribute (IANA "STUN Attributes").
package struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt16

    /// Creates the attribute with this number.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Whether an agent that does not know the attribute must reject the message (RFC 8489 §14).
    package var isComprehensionRequired: Bool { rawValue < 0x8000 }

    /// MAPPED-ADDRESS, RFC 8489 §14.1.
    package static let mappedAddress = AttributeType(rawValue: 0x0001)
    /// USERNAME, RFC 8489 §14.3.
    package static let username = AttributeType(rawValue: 0x0006)
    /// MESSAGE-INTEGRITY, RFC 8489 §14.5.
    package static let messageIntegrity = AttributeType(rawValue: 0x0008)
    /// ERROR-CODE, RFC 8489 §14.8.
    package static let errorCode = AttributeType(rawValue: 0x0009)
    /// UNKNOWN-ATTRIBUTES, RFC 8489 §14.13.
    package static let unknownAttributes = AttributeType(rawValue: 0x000A)
    /// REALM, RFC 8489 §14.9.
    package static let realm = AttributeType(rawValue: 0x0014)
    /// NONCE, RFC 8489 §14.10.
    package static let nonce = AttributeType(rawValue: 0x0015)
    /// XOR-MAPPED-ADDRESS, RFC 8489 §14.2.
    package static let xorMappedAddress = AttributeType(rawValue: 0x0020)
    /// PRIORITY, RFC 8445 §16.1.
    package static let priority = AttributeType(rawValue: 0x0024)
    /// USE-CANDIDATE, RFC 8445 §16.1.
    package static let useCandidate = AttributeType(rawValue: 0x0025)
    /// SOFTWARE, RFC 8489 §14.14.
    package static let software = AttributeType(rawValue: 0x8022)
    /// FINGERPRINT, RFC 8489 §14.7.
    package static let fingerprint = AttributeType(rawValue: 0x8028)
    /// ICE-CONTROLLED, RFC 8445 §16.1.
    package static let iceControlled = AttributeType(rawValue: 0x8029)
    /// ICE-CONTROLLING, RFC 8445 §16.1.
    package static let iceControlling = AttributeType(rawValue: 0x802A)
    /// CHANNEL-NUMBER, RFC 8656 §18.1.
    package static let channelNumber = AttributeType(rawValue: 0x000C)
    /// LIFETIME, RFC 8656 §18.2.
    package static let lifetime = AttributeType(rawValue: 0x000D)
    /// XOR-PEER-ADDRESS, RFC 8656 §18.3.
    package static let xorPeerAddress = AttributeType(rawValue: 0x0012)
    /// DATA, RFC 8656 §18.4.
    package static let data = AttributeType(rawValue: 0x0013)
    /// XOR-RELAYED-ADDRESS, RFC 8656 §18.5.
    package static let xorRelayedAddress = AttributeType(rawValue: 0x0016)
    /// REQUESTED-ADDRESS-FAMILY, RFC 8656 §18.6.
    package static let requestedAddressFamily = AttributeType(rawValue: 0x0017)
    /// EVEN-PORT, RFC 8656 §18.7.
    package static let evenPort = AttributeType(rawValue: 0x0018)
    /// REQUESTED-TRANSPORT, RFC 8656 §18.8.
    package static let requestedTransport = AttributeType(rawValue: 0x0019)
    /// DONT-FRAGMENT, RFC 8656 §18.9.
    package static let dontFragment = AttributeType(rawValue: 0x001A)
    /// MESSAGE-INTEGRITY-SHA256, RFC 8489 §14.6.
    package static let messageIntegritySHA256 = AttributeType(rawValue: 0x001C)
    /// PASSWORD-ALGORITHM, RFC 8489 §14.12.
    package static let passwordAlgorithm = AttributeType(rawValue: 0x001D)
    /// USERHASH, RFC 8489 §14.4.
    package static let userhash = AttributeType(rawValue: 0x001E)
    /// RESERVATION-TOKEN, RFC 8656 §18.10.
    package static let reservationToken = AttributeType(rawValue: 0x0022)
    /// ADDITIONAL-ADDRESS-FAMILY, RFC 8656 §18.11.
    package static let additionalAddressFamily = AttributeType(rawValue: 0x8000)
    /// ADDRESS-ERROR-CODE, RFC 8656 §18.12.
    package static let addressErrorCode = AttributeType(rawValue: 0x8001)
    /// PASSWORD-ALGORITHMS, RFC 8489 §14.11.
    package static let passwordAlgorithms = AttributeType(rawValue: 0x8002)
    /// ALTERNATE-DOMAIN, RFC 8489 §14.16.
    package static let alternateDomain = AttributeType(rawValue: 0x8003)
    /// ICMP, RFC 8656 §18.13.
    package static let icmp = AttributeType(rawValue: 0x8004)
    /// ALTERNATE-SERVER, RFC 8489 §14.15.
    package static let alternateServer = AttributeType(rawValue: 0x8023)
}

extension AttributeType: CustomStringConvertible {
    /// The attribute's name if it is known, otherwise its number.
    package var description: String {
        switch self {
        case .mappedAddress: "MAPPED-ADDRESS"
        case .username: "USERNAME"
        case .messageIntegrity: "MESSAGE-INTEGRITY"
        case .errorCode: "ERROR-CODE"
        case .unknownAttributes: "UNKNOWN-ATTRIBUTES"
        case .realm: "REALM"
        case .nonce: "NONCE"
        case .xorMappedAddress: "XOR-MAPPED-ADDRESS"
        case .priority: "PRIORITY"
        case .useCandidate: "USE-CANDIDATE"
        case .software: "SOFTWARE"
        case .fingerprint: "FINGERPRINT"
        case .iceControlled: "ICE-CONTROLLED"
        case .iceControlling: "ICE-CONTROLLING"
        case .channelNumber: "CHANNEL-NUMBER"
        case .lifetime: "LIFETIME"
        case .xorPeerAddress: "XOR-PEER-ADDRESS"
        case .data: "DATA"
        case .xorRelayedAddress: "XOR-RELAYED-ADDRESS"
        case .requestedAddressFamily: "REQUESTED-ADDRESS-FAMILY"
        case .evenPort: "EVEN-PORT"
        case .requestedTransport: "REQUESTED-TRANSPORT"
        case .dontFragment: "DONT-FRAGMENT"
        case .messageIntegritySHA256: "MESSAGE-INTEGRITY-SHA256"
        case .passwordAlgorithm: "PASSWORD-ALGORITHM"
        case .userhash: "USERHASH"
        case .reservationToken: "RESERVATION-TOKEN"
        case .additionalAddressFamily: "ADDITIONAL-ADDRESS-FAMILY"
        case .addressErrorCode: "ADDRESS-ERROR-CODE"
        case .passwordAlgorithms: "PASSWORD-ALGORITHMS"
        case .alternateDomain: "ALTERNATE-DOMAIN"
        case .icmp: "ICMP"
        case .alternateServer: "ALTERNATE-SERVER"
        default: "attribute 0x" + String(rawValue, radix: 16)
        }
    }
}
