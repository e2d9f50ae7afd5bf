import RTCShareWireFormat

extension Agent {
    /// Adds active candidates for peers with passive TCP candidates: one for each address of ours that can reach one
    /// (RFC 6544 §4.1). Descriptions show port 9, and the system chooses the port for the connection. Here the base has
    /// port 0, which no socket has.
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

    /// Returns the active counterpart of a peer's passive candidate, with 13 bits of preference below the direction
    /// preference (RFC 6544 §4.2).
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
    /// The port of an active candidate in descriptions.
    private static let discardPort: UInt16 = 9

    /// Whether connections to an address belong to this agent: to a candidate of the peer, or on the pair that a
    /// restart is replacing.
    func isStreamPeer(_ remote: TransportAddress) -> Bool {
        remotes.index(of: remote, over: .tcp) != nil
            || checklist.pairs.contains { $0.remote.address == remote && $0.remote.transport == .tcp }
    }

    /// Handles a connection that could not be opened, or that ended. A consent check on the selected pair still opens
    /// it again. Other checks open it after a delay, since a route can come back.
    mutating func streamFailed(from socket: TransportAddress, to remote: TransportAddress, now: Instant) {
        guard let base = locals.streamBase(of: socket) else { return }
        // A restart can create a second pair with the same addresses, which uses the same connection.
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
