package import RTCShareWireFormat

/// Which outside address a NAT gives to one inside (RFC 4787 §4.1, RFC 5780 §4.3).
package enum NATMapping: String, Sendable, Hashable, Codable {
    /// Servers see the address that this machine has.
    case none
    /// One outside address for every destination: what a STUN server sees, peers can use.
    case endpointIndependent = "endpoint-independent"
    /// Another outside address for another destination: what a STUN server sees is of no use to a peer.
    case addressDependent = "address-dependent"
    /// Another outside address even for another port of one destination, as a symmetric NAT has it.
    case addressAndPortDependent = "address- and port-dependent"
    /// What was seen does not tell.
    case unknown

    /// What a server saw of a socket of ours.
    package struct Observation: Sendable, Hashable {
        /// The socket's own address.
        package let base: TransportAddress
        /// Where the server was asked.
        package let server: TransportAddress
        /// What it saw.
        package let mapped: TransportAddress

        /// An observation.
        package init(base: TransportAddress, server: TransportAddress, mapped: TransportAddress) {
            self.base = base
            self.server = server
            self.mapped = mapped
        }
    }

    /// What observations tell together. Only those of one socket can be compared; the worst of the sockets counts.
    package init(_ observations: [Observation]) {
        let verdicts = Dictionary(grouping: observations, by: \.base).values.map(Self.verdict)
        let order: [NATMapping] = [.addressAndPortDependent, .addressDependent, .unknown, .endpointIndependent, .none]
        self = order.first { verdicts.contains($0) } ?? .unknown
    }

    private static func verdict(_ observations: [Observation]) -> NATMapping {
        if observations.allSatisfy({ $0.mapped == $0.base }) { return .none }
        for one in observations {
            for other in observations where one.server.ip == other.server.ip && one.mapped != other.mapped {
                return .addressAndPortDependent
            }
        }
        if Set(observations.map(\.mapped)).count > 1 { return .addressDependent }
        // One address of one server, or two of its ports, say nothing of other servers.
        return Set(observations.map(\.server.ip)).count > 1 ? .endpointIndependent : .unknown
    }
}

/// From whom a NAT or firewall lets packets in to an address that was used (RFC 4787 §5, RFC 5780 §4.4).
package enum NATFiltering: String, Sendable, Hashable, Codable {
    /// From everybody.
    case endpointIndependent = "endpoint-independent"
    /// From addresses that were sent to.
    case addressDependent = "address-dependent"
    /// From the addresses and ports that were sent to.
    case addressAndPortDependent = "address- and port-dependent"
    /// No server offers what it takes to tell (RFC 5780).
    case unknown

    /// What it means that a server's answer came, or did not, from its other address, and from its other port alone; nil
    /// where that was not tried.
    package init(fromOtherAddress: Bool?, fromOtherPort: Bool?) {
        switch (fromOtherAddress, fromOtherPort) {
        case (true?, _): self = .endpointIndependent
        case (false?, true?): self = .addressDependent
        case (false?, false?): self = .addressAndPortDependent
        case (nil, _), (false?, nil): self = .unknown
        }
    }
}
