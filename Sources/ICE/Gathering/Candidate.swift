package import RTCShareWireFormat

/// The type of a candidate (RFC 8445 §5.1.1).
package enum CandidateType: String, Hashable, Sendable, CaseIterable, Encodable {
    /// An address of one of the machine's interfaces.
    case host
    /// An address from a STUN server's response.
    case serverReflexive = "srflx"
    /// An address that the peer observed in a check.
    case peerReflexive = "prflx"
    /// An address on a TURN server.
    case relayed = "relay"

    /// Returns the type preference. For UDP it is that of RFC 8445 §5.1.2.2. For TCP it is below all of UDP except
    /// relayed candidates (RFC 6544 §4.2), with libwebrtc's numbers, so that both ends order pairs alike. For relayed
    /// candidates it depends on the transport to the server, as in libwebrtc.
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

/// The direction in which the TCP connections of a candidate are opened (RFC 6544 §4.5). Browsers don't support the
/// third one, simultaneous opens.
package enum TCPType: String, Hashable, Sendable, Encodable {
    /// The candidate's agent opens the connection.
    case active
    /// The candidate's agent accepts connections.
    case passive

    var opposite: TCPType { self == .active ? .passive : .active }

    /// Returns the local preference of a candidate: the direction preference, and 13 bits of the base's (RFC 6544 §4.2).
    func localPreference(of type: CandidateType, base: Agent.Base) -> UInt16 {
        let direction: UInt16 =
            switch (type, self) {
            case (.host, .active): 6
            case (.host, .passive), (_, .active): 4
            case (_, .passive): 2
            }
        return direction << 13 | base.localPreference >> 3
    }
}

/// A transport address at which an agent may be reachable, for the only component of a bundled, multiplexed session.
package struct Candidate: Hashable, Sendable {
    /// An identifier that candidates of one type, base address and server share. Pairs of one foundation are unfrozen
    /// together (RFC 8445 §5.1.1.3).
    package var foundation: String
    /// The candidate priority (RFC 8445 §5.1.2).
    package var priority: UInt32
    /// The address that the peer sends to.
    package var address: TransportAddress
    /// The type of the candidate.
    package var type: CandidateType
    /// The base. For our candidates, it is the address of the socket that sends and receives (RFC 8445 §5.1.1). For the
    /// peer's, whose base is unknown, it is the same as `address`.
    package var base: TransportAddress
    /// The end of a TCP connection that the candidate is; nil for UDP.
    package var tcpType: TCPType?
    /// The transport protocol to the peer.
    package var transport: TransportProtocol { tcpType == nil ? .udp : .tcp }
    /// The related address in the candidate's line (RFC 8839 §5.1): the base of a reflexive candidate, or the mapped
    /// address of a relayed one.
    package var relatedAddress: TransportAddress?
    /// The transport protocol to the TURN server of a relayed candidate.
    package var relayProtocol: TransportProtocol?
    /// The URL of the server that provided the candidate, if it is known.
    package var url: String?

    /// The base with its transport protocol.
    package var baseAddress: BaseAddress { BaseAddress(base, over: transport) }

    /// Creates a candidate. `base` defaults to the address, `relatedAddress` to the base of a reflexive candidate.
    package init(
        foundation: String, priority: UInt32, address: TransportAddress, type: CandidateType,
        base: TransportAddress? = nil, tcpType: TCPType? = nil, relatedAddress: TransportAddress? = nil
    ) {
        self.foundation = foundation
        self.priority = priority
        self.address = address
        self.type = type
        self.base = base ?? address
        self.tcpType = tcpType
        self.relatedAddress =
            relatedAddress ?? (type == .host || self.base == address || tcpType == .active ? nil : self.base)
    }

    /// Returns the priority of a candidate of component 1 (RFC 8445 §5.1.2.1).
    static func priority(
        type: CandidateType, over transport: TransportProtocol = .udp, localPreference: UInt16
    ) -> UInt32 {
        type.preference(over: transport) << 24 | UInt32(localPreference) << 8 | 255
    }

    /// Returns the local preference of a base: interfaces in their order, IPv6 before IPv4 on each (RFC 8421 §4), then
    /// link-local addresses, and loopback last.
    static func localPreference(of address: IPAddress, interfaceOrder: Int) -> UInt16 {
        // There is room for eight addresses of each family on an interface, since preferences must be unique.
        let rank = UInt16(clamping: min(max(0, interfaceOrder), 1000) * 16 + (address.isV4 ? 8 : 0))
        let ceiling: UInt16 = address.isLoopback ? 0x3FFF : address.isLinkLocal ? 0x7FFF : 0xFFFF
        return ceiling - rank
    }
}

extension Candidate: CustomStringConvertible {
    /// The type and the address, such as `host 192.0.2.1:9`.
    package var description: String {
        var text = "\(type.rawValue) \(address)"
        if transport.isStream { text += " over TCP" }
        if let relayProtocol, relayProtocol.isStream { text += " over \(relayProtocol.rawValue.uppercased())" }
        return text
    }
}

/// The result of adding a candidate of the peer.
package enum RemoteCandidateOutcome: Hashable, Sendable {
    /// The candidate is paired with ours.
    case added
    /// The candidate was known. Its type and priority are updated.
    case known
    /// The candidate is neither UDP nor a passive TCP candidate (RFC 6544): an active one connects to us by itself.
    case ignoredTransport
    /// The component is not 1, the only one of a multiplexed session.
    case ignoredComponent
    /// The type is not one of RFC 8445.
    case ignoredType
    /// The address is unusable: unspecified, multicast, IPv4 in the form of IPv6, or port 0.
    case ignoredAddress
    /// The agent already has ``Limits/remoteCandidates`` candidates.
    case overLimit
}
