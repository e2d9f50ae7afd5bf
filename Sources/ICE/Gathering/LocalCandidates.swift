internal import RTCShareWireFormat

extension Agent {
    /// A base: what a candidate sends from and receives at.
    struct Base: Sendable {
        /// How a base's datagrams leave.
        enum Route: Hashable, Sendable {
            /// From a UDP socket at the base's address.
            case socket
            /// Over a TCP connection for each peer, from the interface of this socket.
            case stream(TransportAddress)
            /// Through the relay of this index, from whose address they go on to the peer.
            case relay(Int)
        }

        let address: TransportAddress
        let localPreference: UInt16
        var route = Route.socket

        /// How the peer is spoken to.
        var transport: TransportProtocol { if case .stream = route { .tcp } else { .udp } }

        var isRelay: Bool { if case .relay = route { true } else { false } }
    }
}

/// Where we send from, and the candidates that the peer knows us by.
struct LocalCandidates: Sendable {
    private(set) var bases: [Agent.Base] = []
    /// Those included that only the peer sees.
    private(set) var candidates: [Candidate] = []
    private var foundations: [FoundationKey: Int] = [:]

    /// What makes two candidates share a foundation (RFC 8445 §5.1.1.3).
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

    /// A socket's base.
    func socket(at address: TransportAddress) -> Agent.Base? {
        bases.first { $0.address == address && $0.route == .socket }
    }

    /// The base of the TCP connections from a socket's interface.
    func streamBase(of socket: TransportAddress) -> TransportAddress? {
        bases.first { base in
            if case .stream = base.route { base.address.ip == socket.ip } else { false }
        }?.address
    }

    /// How the peer is spoken to from a base.
    func transport(of base: TransportAddress) -> TransportProtocol {
        self.base(at: base)?.transport ?? .udp
    }

    /// The candidate that a base is: of the host, or relayed.
    func candidate(of base: TransportAddress) -> Candidate? {
        candidates.first { $0.base == base && ($0.type == .host || $0.type == .relayed) }
    }

    /// The candidate of a base that looks like this from outside.
    func candidate(of base: TransportAddress, seenAs address: TransportAddress) -> Candidate? {
        candidates.first { $0.address == address && $0.base == base }
    }

    mutating func add(_ base: Agent.Base) {
        bases.append(base)
    }

    mutating func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// Takes bases away with their candidates.
    mutating func remove(_ gone: [TransportAddress]) {
        bases.removeAll { gone.contains($0.address) }
        candidates.removeAll { gone.contains($0.base) }
    }

    /// Forgets what a base looked like from outside.
    mutating func removeReflexive(_ address: TransportAddress, of base: TransportAddress) {
        candidates.removeAll { $0.type == .serverReflexive && $0.address == address && $0.base == base }
    }

    /// Forgets what only the peer sees.
    mutating func removePeerReflexive() {
        candidates.removeAll { $0.type == .peerReflexive }
    }

    /// The foundation of a candidate: equal for those that are alike in all of this.
    mutating func foundation(
        type: CandidateType, base: IPAddress, server: IPAddress?, transport: TransportProtocol = .udp
    ) -> String {
        let key = FoundationKey(type: type, base: base, server: server, transport: transport)
        let number = foundations[key] ?? foundations.count + 1
        foundations[key] = number
        return String(number)
    }
}
