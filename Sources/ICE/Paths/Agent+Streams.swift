import RTCShareWireFormat

extension Agent {
    /// For peers that wait for TCP connections: each address of ours that may reach one gets an active candidate
    /// (RFC 6544 §4.1). Its port is told as 9 and chosen when the connection is made; here the base has port 0, which no
    /// socket has.
    mutating func addStreams() {
        guard configuration.iceTransportPolicy == .all else { return }
        for remote in remotes.candidates where remote.transport == .tcp && remote.type != .peerReflexive {
            for base in locals.bases where base.route == .socket {
                let candidate = streamCandidate(of: base)
                guard locals.streamBase(of: base.address) == nil, Self.isWorthChecking(candidate, remote),
                    locals.candidates.count < limits.localCandidates
                else { continue }
                locals.add(
                    Base(
                        address: candidate.base, localPreference: base.localPreference, route: .stream(base.address)))
                locals.add(candidate)
                emit(.candidateGathered(candidate))
                pairWithRemotes(candidate)
            }
        }
    }

    /// The other end of what a peer's passive candidate is: 13 bits of preference below the direction's (RFC 6544 §4.2).
    private mutating func streamCandidate(of base: Base) -> Candidate {
        let preference = Self.activePreference << 13 | base.localPreference >> 3
        return Candidate(
            foundation: locals.foundation(type: .host, base: base.address.ip, server: nil, transport: .tcp),
            priority: Candidate.priority(type: .host, over: .tcp, localPreference: preference),
            address: TransportAddress(ip: base.address.ip, port: Self.discardPort), type: .host,
            base: TransportAddress(ip: base.address.ip, port: 0), transport: .tcp)
    }

    /// The direction preference of active host candidates.
    private static let activePreference: UInt16 = 6
    /// What the port of an active candidate is told as.
    private static let discardPort: UInt16 = 9

    /// Whether connections to an address are of ours: to a candidate of the peer, or on the pair that a restart is to
    /// replace.
    func isStreamPeer(_ remote: TransportAddress) -> Bool {
        remotes.index(of: remote, over: .tcp) != nil
            || checklist.pairs.contains { $0.remote.address == remote && $0.remote.transport == .tcp }
    }

    /// A connection that could not be opened, or ended. The selected pair is asked for consent all the same, which opens
    /// it again; a check opens it again in a while, as a route can come back.
    mutating func streamFailed(from socket: TransportAddress, to remote: TransportAddress, now: Instant) {
        guard let base = locals.streamBase(of: socket) else { return }
        // A restart may have made a second pair of the same addresses, which goes over the same connection.
        for index in checklist.pairs.indices
        where checklist.pairs[index].base == base && checklist.pairs[index].remote.address == remote {
            if checklist.pairs[index].id == checklist.selected {
                checklist.pairs[index].failure = .connectionLost
                disconnect()
            } else {
                let id = checklist.pairs[index].id
                if checklist.pairs[index].state == .inProgress, transactions.reopen(of: id, now: now) {
                    checklist.pairs[index].failure = .connectionLost
                } else {
                    transactions.remove(of: id)
                    checklist.fail(index, as: .connectionLost)
                }
            }
        }
    }
}
