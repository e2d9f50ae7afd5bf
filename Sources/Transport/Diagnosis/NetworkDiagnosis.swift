internal import RTCShareWireFormat

/// How this machine's network looks to a connection: what a person needs to know before, or after, one fails.
package struct NetworkDiagnosis: Sendable, Encodable {
    /// An address of an interface.
    package struct Interface: Sendable, Hashable, Encodable {
        /// The interface's name.
        package var name: String
        /// The address, without a zone.
        package var address: String
        /// Why no candidate is made of it; nil for an address that is used.
        package var unusedBecause: String?
    }

    /// An address that a peer would be told.
    package struct Candidate: Sendable, Hashable, Encodable {
        /// `host`, `srflx` or `relay`.
        package var type: String
        /// The address with its port.
        package var address: String
    }

    /// What a server answered to one address of ours.
    package struct Server: Sendable, Hashable, Encodable {
        /// Its URL, without user and password.
        package var url: String
        /// Whether it is asked to relay.
        package var isRelay: Bool
        /// `udp`, `tcp` or `tls`.
        package var transport: String
        /// The server's address with its port; nil where its name has none.
        package var address: String?
        /// What it was asked from.
        package var base: String?
        /// What it sees of us.
        package var mappedAddress: String?
        /// The address that it relays from.
        package var relayedAddress: String?
        /// How long its answer took, in milliseconds; of a relay all of its challenge and answer.
        package var milliseconds: Double?
        /// Why there is no answer, and what to do about it.
        package var error: String?
        /// Whether nothing at all came back.
        package var isSilent = false

        /// Whether it gave what it was asked for.
        package var isUsable: Bool { error == nil }
    }

    /// The addresses of this machine.
    package var interfaces: [Interface] = []
    /// What a peer would be told.
    package var candidates: [Candidate] = []
    /// What each server answered.
    package var servers: [Server] = []
    /// How the NAT maps addresses.
    package var mapping = NATMapping.unknown
    /// What the NAT or firewall lets in.
    package var filtering = NATFiltering.unknown
    /// Whether names under `.local` can be asked for.
    package var multicastWorks = false
    /// What to do about it.
    package var advice: [NetworkAdvice] { DiagnosisAdvice.lines(for: self) }

    /// Nothing known.
    package init() {}

    /// Whether other machines can be reached by what was found: a usable address, and a usable server if servers were asked.
    package var hasWayOut: Bool { hasAddress && (servers.isEmpty || servers.contains(where: \.isUsable)) }

    /// Whether an interface has an address that other machines can reach.
    package var hasAddress: Bool {
        interfaces.contains { $0.unusedBecause == nil && !(IPAddress($0.address)?.isLoopback ?? true) }
    }

    private enum CodingKeys: String, CodingKey {
        case interfaces, candidates, servers, mapping, filtering, multicastWorks, hasWayOut
    }

    /// Everything but the advice, which is for whoever shows it to word.
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
