package import RTCShareWireFormat

/// The code and the reason of an error response (RFC 8489 §14.8).
package struct ErrorCode: Hashable, Sendable {
    /// The code, 300 to 699.
    package let code: Int
    /// The reason, for people.
    package let reason: String

    package init(code: Int, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The request lacks a required attribute.
    package static let badRequest = ErrorCode(code: 400, reason: "Bad Request")
    /// The request's integrity or user name is wrong.
    package static let unauthenticated = ErrorCode(code: 401, reason: "Unauthenticated")
    /// The request has a comprehension-required attribute that the receiver does not know.
    package static let unknownAttribute = ErrorCode(code: 420, reason: "Unknown Attribute")
    /// The server requires a new nonce (RFC 8489 §9.2.4).
    package static let staleNonce = ErrorCode(code: 438, reason: "Stale Nonce")
    /// Both agents have the same role: controlling or controlled (RFC 8445 §7.3.1.1).
    package static let roleConflict = ErrorCode(code: 487, reason: "Role Conflict")
}

/// One attribute of a message. MESSAGE-INTEGRITY and FINGERPRINT are not attributes here, since they cover the whole
/// message.
package enum Attribute: Hashable, Sendable {
    /// MAPPED-ADDRESS.
    case mappedAddress(TransportAddress)
    /// XOR-MAPPED-ADDRESS, decoded.
    case xorMappedAddress(TransportAddress)
    /// USERNAME.
    case username(String)
    /// REALM.
    case realm(String)
    /// NONCE.
    case nonce([UInt8])
    /// SOFTWARE.
    case software(String)
    /// ERROR-CODE.
    case errorCode(ErrorCode)
    /// UNKNOWN-ATTRIBUTES.
    case unknownAttributes([AttributeType])
    /// PRIORITY.
    case priority(UInt32)
    /// USE-CANDIDATE.
    case useCandidate
    /// ICE-CONTROLLED, with its tie-breaker.
    case iceControlled(UInt64)
    /// ICE-CONTROLLING, with its tie-breaker.
    case iceControlling(UInt64)
    /// CHANNEL-NUMBER.
    case channelNumber(ChannelNumber)
    /// LIFETIME, in whole seconds.
    case lifetime(Duration)
    /// XOR-PEER-ADDRESS, decoded.
    case xorPeerAddress(TransportAddress)
    /// DATA.
    case data([UInt8])
    /// XOR-RELAYED-ADDRESS, decoded.
    case xorRelayedAddress(TransportAddress)
    /// REQUESTED-ADDRESS-FAMILY.
    case requestedAddressFamily(AddressFamily)
    /// ADDITIONAL-ADDRESS-FAMILY.
    case additionalAddressFamily(AddressFamily)
    /// ADDRESS-ERROR-CODE: the reason why there is no relayed address of a family.
    case addressErrorCode(AddressFamily, ErrorCode)
    /// EVEN-PORT, with a request to reserve the next port.
    case evenPort(reservesNext: Bool)
    /// REQUESTED-TRANSPORT.
    case requestedTransport(RequestedTransport)
    /// DONT-FRAGMENT.
    case dontFragment
    /// RESERVATION-TOKEN.
    case reservationToken(UInt64)
    /// ICMP.
    case icmp(ICMPError)
    /// ALTERNATE-SERVER.
    case alternateServer(TransportAddress)
    /// ALTERNATE-DOMAIN.
    case alternateDomain(String)
    /// PASSWORD-ALGORITHMS, in order of preference.
    case passwordAlgorithms([PasswordAlgorithm])
    /// PASSWORD-ALGORITHM.
    case passwordAlgorithm(PasswordAlgorithm)
    /// USERHASH: the SHA-256 hash of user name and realm.
    case userhash([UInt8])
    /// An attribute that this project does not know, as received.
    case unknown(AttributeType, [UInt8])

    /// The type of the attribute.
    package var type: AttributeType {
        switch self {
        case .mappedAddress: .mappedAddress
        case .xorMappedAddress: .xorMappedAddress
        case .username: .username
        case .realm: .realm
        case .nonce: .nonce
        case .software: .software
        case .errorCode: .errorCode
        case .unknownAttributes: .unknownAttributes
        case .priority: .priority
        case .useCandidate: .useCandidate
        case .iceControlled: .iceControlled
        case .iceControlling: .iceControlling
        case .channelNumber: .channelNumber
        case .lifetime: .lifetime
        case .xorPeerAddress: .xorPeerAddress
        case .data: .data
        case .xorRelayedAddress: .xorRelayedAddress
        case .requestedAddressFamily: .requestedAddressFamily
        case .additionalAddressFamily: .additionalAddressFamily
        case .addressErrorCode: .addressErrorCode
        case .evenPort: .evenPort
        case .requestedTransport: .requestedTransport
        case .dontFragment: .dontFragment
        case .reservationToken: .reservationToken
        case .icmp: .icmp
        case .alternateServer: .alternateServer
        case .alternateDomain: .alternateDomain
        case .passwordAlgorithms: .passwordAlgorithms
        case .passwordAlgorithm: .passwordAlgorithm
        case .userhash: .userhash
        case .unknown(let type, _): type
        }
    }
}
