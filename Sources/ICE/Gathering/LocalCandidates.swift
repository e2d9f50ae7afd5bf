internal import RTCShareWireFormat

extension Agent {
    /// A base: the address that a candidate sends from and receives at.
    struct Base: Sendable {
        /// The route by which a base's datagrams are sent.
        enum Route: Hashable, Sendable {
            /// A UDP socket at the base's address.
            case socket
            /// A TCP connection for each peer, from the interface of this socket.
            case stream(TransportAddress)
            /// The relay of this index, which forwards datagrams from its address to the peer.
            case relay(Int)
        }

        let address: TransportAddress
        let localPreference: UInt16
        var route = Route.socket

        /// The transport protocol to the peer.
        var transport: TransportProtocol { if case .stream = route { .tcp } else { .udp } }

        var isRelay: Bool { if case .relay = route { true } else { false } }
    }
}

/// Our bases, and our candidates that the peer knows.
struct LocalCandidates: Sendable {
    private(set) var bases: [Agent.Base] = []
    /// Our candidates, including peer-reflexive ones.
    private(set) var candidates: [Candidate] = []
    private var foundations: [FoundationKey: Int] = [:]

    /// The properties that candidates of one foundation share (RFC 8445 §5.1.1.3).
    private struct FoundationKey: Hashable, Sendable {
        let type: CandidateType
        let base: IPAddress
        let server: IPAddress?
        let transport: TransportProtocol
    }

    /// The addresses of the sockets.
    var hosts: [TransportAddress] { bases.filter { $0.route == .socket }.map(\.address) }

    func base(at address: TransportAddress) -> Agent.Base? {
        bases.first { $0.address == address }
    }

    func hasBase(at address: TransportAddress) -> Bool {
        bases.contains { $0.address == address }
    }

    /// Returns a socket's base.
    func socket(at address: TransportAddress) -> Agent.Base? {
        bases.first { $0.address == address && $0.route == .socket }
    }

    /// Returns the base of the TCP connections from a socket's interface.
    func streamBase(of socket: TransportAddress) -> TransportAddress? {
        bases.first { base in
            if case .stream = base.route { base.address.ip == socket.ip } else { false }
        }?.address
    }

    /// Returns the transport protocol to the peer from a base.
    func transport(of base: TransportAddress) -> TransportProtocol {
        self.base(at: base)?.transport ?? .udp
    }

    /// Returns the host or relayed candidate of a base.
    func candidate(of base: TransportAddress) -> Candidate? {
        candidates.first { $0.base == base && ($0.type == .host || $0.type == .relayed) }
    }

    /// Returns the candidate of a base with this address.
    func candidate(of base: TransportAddress, seenAs address: TransportAddress) -> Candidate? {
        candidates.first { $0.address == address && $0.base == base }
    }

    mutating func add(_ base: Agent.Base) {
        bases.append(base)
    }

    mutating func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// Removes bases with their candidates.
    mutating func remove(_ gone: [TransportAddress]) {
        bases.removeAll { gone.contains($0.address) }
        candidates.removeAll { gone.contains($0.base) }
    }

    /// Removes a former mapped address of a base.
    mutating func removeReflexive(_ address: TransportAddress, of base: TransportAddress) {
        candidates.removeAll { $0.type == .serverReflexive && $0.address == address && $0.base == base }
    }

    /// Removes the peer-reflexive candidates.
    mutating func removePeerReflexive() {
        candidates.removeAll { $0.type == .peerReflexive }
    }

    /// Returns the foundation of a candidate, which candidates with equal arguments share.
    mutating func foundation(
        type: CandidateType, base: IPAddress, server: IPAddress?, transport: TransportProtocol = .udp
    ) -> String {
        let key = FoundationKey(type: type, base: base, server: server, transport: transport)
        let number = foundations[key] ?? foundations.count + 1
        foundations[key] = number
        return String(number)
    }
}
