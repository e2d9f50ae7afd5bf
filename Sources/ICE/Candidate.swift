public import WireFormat

/// How an agent came by a candidate (RFC 8445 §5.1.1).
public enum CandidateType: String, Hashable, Sendable, CaseIterable {
    /// An address of one of the machine's interfaces.
    case host
    /// The address that a STUN server saw.
    case serverReflexive = "srflx"
    /// The address that the peer saw.
    case peerReflexive = "prflx"
    /// An address on a TURN server.
    case relayed = "relay"

    /// The recommended type preference (RFC 8445 §5.1.2.2).
    var preference: UInt32 {
        switch self {
        case .host: 126
        case .peerReflexive: 110
        case .serverReflexive: 100
        case .relayed: 0
        }
    }
}

/// A transport address at which an agent may be reached over UDP, for the one component of a bundled, multiplexed
/// session.
public struct Candidate: Hashable, Sendable {
    /// Equal for candidates of one type, base address and server: what freezes and thaws together (RFC 8445 §5.1.1.3).
    public var foundation: String
    /// RFC 8445 §5.1.2.
    public var priority: UInt32
    /// Where the peer sends to.
    public var address: TransportAddress
    /// How it was found.
    public var type: CandidateType
    /// For our own candidates the address of the socket that sends and receives (RFC 8445 §5.1.1: the base). For the
    /// peer's, the same as `address`, as theirs is not known.
    public var base: TransportAddress

    /// A candidate; `base` defaults to the address.
    public init(
        foundation: String, priority: UInt32, address: TransportAddress, type: CandidateType,
        base: TransportAddress? = nil
    ) {
        self.foundation = foundation
        self.priority = priority
        self.address = address
        self.type = type
        self.base = base ?? address
    }

    /// The related address of the candidate's line in a description: the base of a reflexive candidate (RFC 8839 §5.1).
    public var relatedAddress: TransportAddress? {
        type == .host || base == address ? nil : base
    }

    /// A priority from its parts, for component 1 (RFC 8445 §5.1.2.1).
    static func priority(type: CandidateType, localPreference: UInt16) -> UInt32 {
        type.preference << 24 | UInt32(localPreference) << 8 | 255
    }

    /// The local preference of a base: interfaces in their order, IPv6 before IPv4 on each (RFC 8421 §4), link-local
    /// addresses after those, and loopback last.
    static func localPreference(of address: IPAddress, interfaceOrder: Int) -> UInt16 {
        // Room for eight addresses of each family on an interface, as preferences have to be unique.
        let rank = UInt16(clamping: min(max(0, interfaceOrder), 1000) * 16 + (address.isV4 ? 8 : 0))
        let ceiling: UInt16 = address.isLoopback ? 0x3FFF : address.isLinkLocal ? 0x7FFF : 0xFFFF
        return ceiling - rank
    }
}

extension Candidate: CustomStringConvertible {
    /// `host 192.0.2.1:9`.
    public var description: String { "\(type.rawValue) \(address)" }
}

/// What became of a candidate that the peer announced.
public enum RemoteCandidateOutcome: Hashable, Sendable {
    /// It is paired with our own.
    case added
    /// It was known already; type and priority are now as announced.
    case known
    /// Another transport than UDP, as with `tcptype`.
    case ignoredTransport
    /// Another component than 1, which a multiplexed session does not have.
    case ignoredComponent
    /// A type that RFC 8445 does not name.
    case ignoredType
    /// An address that nothing can be sent to: unspecified, multicast or port 0.
    case ignoredAddress
    /// ``Limits/remoteCandidates`` are known already.
    case overLimit
}
