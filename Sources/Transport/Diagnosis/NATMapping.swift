package import RTCShareWireFormat

/// The public addresses that a NAT assigns to a private one (RFC 4787 §4.1, RFC 5780 §4.3).
package enum NATMapping: String, Sendable, Hashable, Codable {
    /// There is no NAT: servers see the address of this machine.
    case none
    /// One public address for every destination: peers can use the one that a STUN server sees.
    case endpointIndependent = "endpoint-independent"
    /// Another public address for each destination address: peers can't use the one that a STUN server sees.
    case addressDependent = "address-dependent"
    /// Another public address even for each port of a destination, as in a symmetric NAT.
    case addressAndPortDependent = "address- and port-dependent"
    /// The observations are not sufficient.
    case unknown

    /// A server's observation of a local socket.
    package struct Observation: Sendable, Hashable {
        /// The socket's own address.
        package let base: TransportAddress
        /// The server's address.
        package let server: TransportAddress
        /// The address that the server saw.
        package let mapped: TransportAddress

        /// An observation.
        package init(base: TransportAddress, server: TransportAddress, mapped: TransportAddress) {
            self.base = base
            self.server = server
            self.mapped = mapped
        }
    }

    /// Creates the result of observations. Only those of one socket are comparable; the worst of the sockets counts.
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
        // One address of a server, or two of its ports, prove nothing about other servers.
        return Set(observations.map(\.server.ip)).count > 1 ? .endpointIndependent : .unknown
    }
}
