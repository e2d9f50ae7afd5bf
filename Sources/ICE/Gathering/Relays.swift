import RTCShareSTUN
import RTCShareWireFormat

/// The allocations that bases have at TURN servers. Each is known by its index, as the base that it makes names it: none is
/// removed, but the places of those that were abandoned are used again.
struct Relays: Sendable {
    private var all: [Relay] = []

    subscript(index: Int) -> Relay {
        _read { yield all[index] }
        _modify { yield &all[index] }
    }

    var indices: Range<Int> { all.indices }
    var isEmpty: Bool { all.isEmpty }

    /// How many there are.
    var count: Int { all.count { !$0.isAbandoned } }

    /// Whether gathering need not wait for any of them.
    var areSettled: Bool { all.allSatisfy(\.isSettled) }

    /// When there is something to do.
    var deadlines: [Instant] { all.compactMap(\.deadline) }

    /// What each server has answered.
    var reports: [ServerReport] { all.filter { !$0.isAbandoned }.map(\.report) }

    /// What is to be remembered of them for another agent.
    func kept(now: Instant) -> [RelayState] { all.compactMap { $0.kept(now: now) } }

    mutating func add(_ relay: Relay) {
        if let index = all.firstIndex(where: \.isAbandoned) {
            all[index] = relay
        } else {
            all.append(relay)
        }
    }

    /// The relay by which a base asks a TURN server. One has one allocation for a port of ours (RFC 8656 §3.2), whatever
    /// the URLs and credentials that lead there.
    func index(of server: ICEServerAddress, from base: TransportAddress) -> Int? {
        guard case .turn = server.kind else { return nil }
        return all.firstIndex { relay in
            relay.server.address == server.address && relay.transport == server.transport
                && relay.base.address == base && !relay.isAbandoned
        }
    }

    /// Whether a server that relays sees a base as `address`.
    func isSeen(_ base: TransportAddress, as address: TransportAddress) -> Bool {
        all.contains { $0.base.address == base && $0.mapped == address && !$0.isAbandoned }
    }

    /// Whether another relay goes from the same port to the same server.
    func isPortShared(_ index: Int) -> Bool {
        all.indices.contains { $0 != index && all[index].sharesPort(with: all[$0]) }
    }

    /// The relay that what came this way may be the server's of.
    func index(of server: TransportAddress, at local: TransportAddress, over transport: TransportProtocol) -> Int? {
        all.firstIndex { $0.isServer(server, at: local, over: transport) }
    }

    /// The server that a stream goes to, and the name to ask it for its certificate by.
    func server(
        at destination: TransportAddress, over transport: TransportProtocol
    ) -> (server: ICEServerAddress, domain: String?)? {
        all.first { $0.allocation.server == destination && $0.transport == transport && !$0.isAbandoned }
            .map { ($0.server, $0.alternate?.domain) }
    }

    /// The connection to a server ended, or datagrams can't be sent to it; the failures that are news at once.
    mutating func transportFailed(
        at base: TransportAddress, to server: TransportAddress, over transport: TransportProtocol, now: Instant
    ) -> [ServerFailure] {
        all.indices.filter { all[$0].isServer(server, at: base, over: transport) }
            .compactMap { all[$0].transportFailed(now: now) }
    }

    /// A socket is gone: nothing is asked from it any more. Returns the relayed addresses that are gone with it.
    mutating func abandon(_ base: TransportAddress) -> [TransportAddress] {
        all.indices.filter { all[$0].base.address == base }.compactMap { all[$0].abandon() }
    }
}
