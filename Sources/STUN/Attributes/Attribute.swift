package import RTCShareWireFormat

/// The code and the words of an error response (RFC 8489 §14.8).
package struct ErrorCode: Hashable, Sendable {
    /// 300 to 699.
    package let code: Int
    /// Words for a person.
    package let reason: String

    /// A code with its words.
    package init(code: Int, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The request lacks what it must hold.
    package static let badRequest = ErrorCode(code: 400, reason: "Bad Request")
    /// The request's integrity or user name is wrong.
    package static let unauthenticated = ErrorCode(code: 401, reason: "Unauthenticated")
    /// The request holds a comprehension-required attribute that is not known here.
    package static let unknownAttribute = ErrorCode(code: 420, reason: "Unknown Attribute")
    /// The server wants another nonce (RFC 8489 §9.2.4).
    package static let staleNonce = ErrorCode(code: 438, reason: "Stale Nonce")
    /// Both agents take themselves for the controlling, or the controlled, one (RFC 8445 §7.3.1.1).
    package static let roleConflict = ErrorCode(code: 487, reason: "Role Conflict")
}

/// One attribute of a message. MESSAGE-INTEGRITY and FINGERPRINT are no attributes here: they come from and go to the
/// message as a whole.
package enum Attribute: Hashable, Sendable {
    /// MAPPED-ADDRESS.
    case mappedAddress(TransportAddress)
    /// XOR-MAPPED-ADDRESS, in the clear.
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
    /// ICE-CONTROLLED with its tie-breaker.
    case iceControlled(UInt64)
    /// ICE-CONTROLLING with its tie-breaker.
    case iceControlling(UInt64)
    /// CHANNEL-NUMBER.
    case channelNumber(ChannelNumber)
    /// LIFETIME, in whole seconds.
    case lifetime(Duration)
    /// XOR-PEER-ADDRESS, in the clear.
    case xorPeerAddress(TransportAddress)
    /// DATA.
    case data([UInt8])
    /// XOR-RELAYED-ADDRESS, in the clear.
    case xorRelayedAddress(TransportAddress)
    /// REQUESTED-ADDRESS-FAMILY.
    case requestedAddressFamily(AddressFamily)
    /// ADDITIONAL-ADDRESS-FAMILY.
    case additionalAddressFamily(AddressFamily)
    /// ADDRESS-ERROR-CODE: why there is no relayed address of a family.
    case addressErrorCode(AddressFamily, ErrorCode)
    /// EVEN-PORT, and whether the next port is to be reserved too.
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
    /// PASSWORD-ALGORITHMS, best first.
    case passwordAlgorithms([PasswordAlgorithm])
    /// PASSWORD-ALGORITHM.
    case passwordAlgorithm(PasswordAlgorithm)
    /// USERHASH: SHA-256 of user name and realm.
    case userhash([UInt8])
    /// An attribute that is not known here, kept as it came.
    case unknown(AttributeType, [UInt8])

    /// The attribute's number.
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
