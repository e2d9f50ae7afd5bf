package import RTCShareWireFormat

/// The address of a base with its transport protocol, which identify it together: a TCP listener can have the same port
/// number as a UDP socket.
package struct BaseAddress: Hashable, Sendable {
    /// The address; its port is 0 if the system chooses one for each connection.
    package let address: TransportAddress
    /// The transport protocol to the peer: `udp` or `tcp`.
    package let transport: TransportProtocol

    /// Creates the address of a base.
    package init(_ address: TransportAddress, over transport: TransportProtocol = .udp) {
        self.address = address
        self.transport = transport
    }
}

extension Agent {
    /// A base: the address that a candidate sends from and receives at.
    struct Base: Sendable {
        /// The route by which a base's datagrams are sent.
        enum Route: Hashable, Sendable {
            /// A UDP socket at the base's address.
            case socket
            /// A TCP connection for each peer, which we open, from the interface of this socket.
            case active(TransportAddress)
            /// The TCP connections that peers open to the base's address.
            case passive
            /// The relay of this index, which forwards datagrams from its address to the peer.
            case relay(Int)
        }

        let address: TransportAddress
        let localPreference: UInt16
        var route = Route.socket

        var id: BaseAddress { BaseAddress(address, over: tcpType == nil ? .udp : .tcp) }

        var tcpType: TCPType? {
            switch route {
            case .active: .active
            case .passive: .passive
            case .socket, .relay: nil
            }
        }

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
        let tcpType: TCPType?
    }

    /// The addresses of the sockets.
    var hosts: [TransportAddress] { bases.filter { $0.route == .socket }.map(\.address) }

    func base(at address: BaseAddress) -> Agent.Base? {
        bases.first { $0.id == address }
    }

    func hasBase(at address: BaseAddress) -> Bool {
        bases.contains { $0.id == address }
    }

    /// Returns a socket's base.
    func socket(at address: TransportAddress) -> Agent.Base? {
        bases.first { $0.address == address && $0.route == .socket }
    }

    /// Returns the host or relayed candidate of a base.
    func candidate(of base: BaseAddress) -> Candidate? {
        candidates.first { $0.baseAddress == base && ($0.type == .host || $0.type == .relayed) }
    }

    /// Returns the candidate of a base with this address.
    func candidate(of base: BaseAddress, seenAs address: TransportAddress) -> Candidate? {
        candidates.first { $0.address == address && $0.baseAddress == base }
    }

    mutating func add(_ base: Agent.Base) {
        bases.append(base)
    }

    mutating func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// Removes bases with their candidates.
    mutating func remove(_ gone: [BaseAddress]) {
        bases.removeAll { gone.contains($0.id) }
        candidates.removeAll { gone.contains($0.baseAddress) }
    }

    /// Removes a former mapped address of a base.
    mutating func removeReflexive(_ address: TransportAddress, of base: BaseAddress) {
        candidates.removeAll { $0.type == .serverReflexive && $0.address == address && $0.baseAddress == base }
    }

    /// Removes the peer-reflexive candidates.
    mutating func removePeerReflexive() {
        candidates.removeAll { $0.type == .peerReflexive }
    }

    /// Returns the foundation of a candidate, which candidates with equal arguments share.
    mutating func foundation(
        type: CandidateType, base: IPAddress, server: IPAddress?, transport: TransportProtocol = .udp,
        tcpType: TCPType? = nil
    ) -> String {
        let key = FoundationKey(type: type, base: base, server: server, transport: transport, tcpType: tcpType)
        let number = foundations[key] ?? foundations.count + 1
        foundations[key] = number
        return String(number)
    }
}
