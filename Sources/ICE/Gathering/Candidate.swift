package import RTCShareWireFormat

/// How an agent came by a candidate (RFC 8445 §5.1.1).
package enum CandidateType: String, Hashable, Sendable, CaseIterable, Encodable {
    /// An address of one of the machine's interfaces.
    case host
    /// The address that a STUN server saw.
    case serverReflexive = "srflx"
    /// The address that the peer saw.
    case peerReflexive = "prflx"
    /// An address on a TURN server.
    case relayed = "relay"

    /// The type preference: of UDP as RFC 8445 §5.1.2.2 recommends it; of TCP below all of UDP but relayed (RFC 6544
    /// §4.2), with the numbers of libwebrtc, so that both ends of a pair order alike; of relayed candidates by how the
    /// server is reached, as libwebrtc does.
    func preference(over transport: TransportProtocol) -> UInt32 {
        switch (self, transport) {
        case (.host, .udp): 126
        case (.peerReflexive, .udp): 110
        case (.serverReflexive, _): 100
        case (.host, _): 90
        case (.peerReflexive, _): 80
        case (.relayed, .udp): 2
        case (.relayed, .tcp): 1
        case (.relayed, .tls): 0
        }
    }
}

/// A transport address at which an agent may be reached, for the one component of a bundled, multiplexed session.
package struct Candidate: Hashable, Sendable {
    /// Equal for candidates of one type, base address and server: what freezes and thaws together (RFC 8445 §5.1.1.3).
    package var foundation: String
    /// RFC 8445 §5.1.2.
    package var priority: UInt32
    /// Where the peer sends to.
    package var address: TransportAddress
    /// How it was found.
    package var type: CandidateType
    /// For our own candidates the address of the socket that sends and receives (RFC 8445 §5.1.1: the base). For the
    /// peer's, the same as `address`, as theirs is not known.
    package var base: TransportAddress
    /// How the peer reaches it: `udp`, or `tcp` for the ends of a TCP connection that we open (RFC 6544).
    package var transport: TransportProtocol
    /// The related address of the candidate's line in a description (RFC 8839 §5.1): the base of a reflexive candidate,
    /// what the server sees of a relayed one's.
    package var relatedAddress: TransportAddress?
    /// How the TURN server of a relayed candidate is reached.
    package var relayProtocol: TransportProtocol?
    /// The URL of the server that a candidate was learned from, where it is known.
    package var url: String?

    /// A candidate; `base` defaults to the address, `relatedAddress` to the base of a reflexive candidate.
    package init(
        foundation: String, priority: UInt32, address: TransportAddress, type: CandidateType,
        base: TransportAddress? = nil, transport: TransportProtocol = .udp, relatedAddress: TransportAddress? = nil
    ) {
        self.foundation = foundation
        self.priority = priority
        self.address = address
        self.type = type
        self.base = base ?? address
        self.transport = transport
        self.relatedAddress =
            relatedAddress ?? (type == .host || self.base == address || transport != .udp ? nil : self.base)
    }

    /// A priority from its parts, for component 1 (RFC 8445 §5.1.2.1).
    static func priority(
        type: CandidateType, over transport: TransportProtocol = .udp, localPreference: UInt16
    ) -> UInt32 {
        type.preference(over: transport) << 24 | UInt32(localPreference) << 8 | 255
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
    package var description: String {
        var text = "\(type.rawValue) \(address)"
        if transport.isStream { text += " over TCP" }
        if let relayProtocol, relayProtocol.isStream { text += " over \(relayProtocol.rawValue.uppercased())" }
        return text
    }
}

/// What became of a candidate that the peer announced.
package enum RemoteCandidateOutcome: Hashable, Sendable {
    /// It is paired with our own.
    case added
    /// It was known already; type and priority are now as announced.
    case known
    /// Neither UDP nor a TCP candidate that waits for connections (RFC 6544): an active one comes to us by itself, and
    /// both ends opening one at once (`so`) is what browsers do not do either.
    case ignoredTransport
    /// Another component than 1, which a multiplexed session does not have.
    case ignoredComponent
    /// A type that RFC 8445 does not name.
    case ignoredType
    /// An address that no candidate has: unspecified, multicast, IPv4 written as IPv6, or port 0.
    case ignoredAddress
    /// ``Limits/remoteCandidates`` are known already.
    case overLimit
}
