internal import RTCShareWireFormat

/// The properties of this machine's network that matter for a connection, for users before or after a failure.
package struct NetworkDiagnosis: Sendable, Encodable {
    /// An address of an interface.
    package struct Interface: Sendable, Hashable, Encodable {
        /// The interface's name.
        package var name: String
        /// The address, without a zone.
        package var address: String
        /// The reason why it is not a candidate; nil for an address that is used.
        package var unusedBecause: String?
    }

    /// An address that would be sent to a peer.
    package struct Candidate: Sendable, Hashable, Encodable {
        /// The type `host`, `srflx` or `relay`.
        package var type: String
        /// The address with its port.
        package var address: String
    }

    /// A server's answer to one local address.
    package struct Server: Sendable, Hashable, Encodable {
        /// Its URL, without user and password.
        package var url: String
        /// Whether it is asked to relay.
        package var isRelay: Bool
        /// The transport `udp`, `tcp` or `tls`.
        package var transport: String
        /// The server's address with its port; nil if its name has none.
        package var address: String?
        /// The local address.
        package var base: String?
        /// The public address that it reports.
        package var mappedAddress: String?
        /// The relayed address.
        package var relayedAddress: String?
        /// The time until its answer, in milliseconds; for a relay, including the challenge.
        package var milliseconds: Double?
        /// The reason for a failure, and a remedy.
        package var error: String?
        /// Whether there was no answer at all.
        package var isSilent = false

        /// Whether the request succeeded.
        package var isUsable: Bool { error == nil }
    }

    /// The addresses of this machine.
    package var interfaces: [Interface] = []
    /// The candidates that would be sent to a peer.
    package var candidates: [Candidate] = []
    /// The servers' answers.
    package var servers: [Server] = []
    /// The address mapping of the NAT.
    package var mapping = NATMapping.unknown
    /// The filtering of the NAT or firewall.
    package var filtering = NATFiltering.unknown
    /// Whether names under `.local` can be resolved.
    package var multicastWorks = false
    /// The router's port forwarding. It is not part of the advice and the encoding, whose words depend on the program.
    package var router = RouterDiagnosis()
    /// The advice.
    package var advice: [NetworkAdvice] { DiagnosisAdvice.lines(for: self) }

    /// Creates an empty diagnosis.
    package init() {}

    /// Whether other machines can be reached: through a usable address, and a usable server if servers were asked.
    package var hasWayOut: Bool { hasAddress && (servers.isEmpty || servers.contains(where: \.isUsable)) }

    /// Whether an interface has an address that other machines can reach.
    package var hasAddress: Bool {
        interfaces.contains { $0.unusedBecause == nil && !(IPAddress($0.address)?.isLoopback ?? true) }
    }

    private enum CodingKeys: String, CodingKey {
        case interfaces, candidates, servers, mapping, filtering, multicastWorks, hasWayOut
    }

    /// Encodes everything except the advice, whose words depend on the program.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(interfaces, forKey: .interfaces)
        try container.encode(candidates, forKey: .candidates)
        try container.encode(servers, forKey: .servers)
        try container.encode(mapping, forKey: .mapping)
        try container.encode(filtering, forKey: .filtering)
        try container.encode(multicastWorks, forKey: .multicastWorks)
        try container.encode(hasWayOut, forKey: .hasWayOut)
    }
}
