import RTCShareSTUN
import RTCShareWireFormat

/// The allocations of bases at TURN servers. The index of each is part of its base's route, so that none is removed.
/// New ones reuse the places of abandoned ones.
struct Relays: Sendable {
    private var all: [Relay] = []

    subscript(index: Int) -> Relay {
        _read { yield all[index] }
        _modify { yield &all[index] }
    }

    var indices: Range<Int> { all.indices }
    var isEmpty: Bool { all.isEmpty }

    /// The number of relays that are not abandoned.
    var count: Int { all.count { !$0.isAbandoned } }

    /// Whether gathering does not need to wait for any of them.
    var areSettled: Bool { all.allSatisfy(\.isSettled) }

    /// The times of the next actions.
    var deadlines: [Instant] { all.compactMap(\.deadline) }

    /// The results of all servers.
    var reports: [ServerReport] { all.filter { !$0.isAbandoned }.map(\.report) }

    /// Returns the states that another agent needs to resume the relays.
    func kept(now: Instant) -> [RelayState] { all.compactMap { $0.kept(now: now) } }

    mutating func add(_ relay: Relay) {
        if let index = all.firstIndex(where: \.isAbandoned) {
            all[index] = relay
        } else {
            all.append(relay)
        }
    }

    /// Returns the relay for a base and a TURN server. A server has one allocation for a port of ours (RFC 8656 §3.2),
    /// whatever its URLs and credentials are.
    func index(of server: ICEServerAddress, from base: TransportAddress) -> Int? {
        guard case .turn = server.kind else { return nil }
        return all.firstIndex { relay in
            relay.server.address == server.address && relay.transport == server.transport
                && relay.base.address == base && !relay.isAbandoned
        }
    }

    /// Whether a TURN server sees a base as `address`.
    func isSeen(_ base: TransportAddress, as address: TransportAddress) -> Bool {
        all.contains { $0.base.address == base && $0.mapped == address && !$0.isAbandoned }
    }

    /// Whether another relay uses the same port and server.
    func isPortShared(_ index: Int) -> Bool {
        all.indices.contains { $0 != index && all[index].sharesPort(with: all[$0]) }
    }

    /// Returns the relay whose server can have sent a message that arrived by this route.
    func index(of server: TransportAddress, at local: TransportAddress, over transport: TransportProtocol) -> Int? {
        all.firstIndex { $0.isServer(server, at: local, over: transport) }
    }

    /// Returns the server of a stream, and the domain for its certificate.
    func server(
        at destination: TransportAddress, over transport: TransportProtocol
    ) -> (server: ICEServerAddress, domain: String?)? {
        all.first { $0.allocation.server == destination && $0.transport == transport && !$0.isAbandoned }
            .map { ($0.server, $0.alternate?.domain) }
    }

    /// Handles the end of the connection to a server, or datagrams that can't be sent to it. Returns new failures.
    mutating func transportFailed(
        at base: TransportAddress, to server: TransportAddress, over transport: TransportProtocol, now: Instant
    ) -> [ServerFailure] {
        all.indices.filter { all[$0].isServer(server, at: base, over: transport) }
            .compactMap { all[$0].transportFailed(now: now) }
    }

    /// Abandons the relays of a removed socket. Returns the relayed addresses that are lost with it.
    mutating func abandon(_ base: TransportAddress) -> [TransportAddress] {
        all.indices.filter { all[$0].base.address == base }.compactMap { all[$0].abandon() }
    }
}
