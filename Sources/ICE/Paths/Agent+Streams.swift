package import RTCShareWireFormat

/// ICE over TCP (RFC 6544).
extension Agent {
    /// Adds the address of a listener, to which peers with active candidates connect. The owner passes the messages of
    /// each connection with the peer's address to ``unwrap(_:from:to:over:now:)``, and reports its end by
    /// ``transmitFailed(base:destination:over:now:)``.
    package mutating func addListener(_ address: TransportAddress, now: Instant) {
        let id = BaseAddress(address, over: .tcp)
        guard isActive, configuration.iceTransportPolicy == .all, !locals.hasBase(at: id) else { return }
        guard max(locals.bases.count, locals.candidates.count) < limits.localCandidates else {
            statistics.overLimit += 1
            return
        }
        let socket = locals.bases.first { $0.route == .socket && $0.address.ip == address.ip }
        let preference = socket?.localPreference ?? Candidate.localPreference(of: address.ip, interfaceOrder: 0)
        let base = Base(address: address, localPreference: preference, route: .passive)
        locals.add(base)
        // Only a peer's connection makes a pair: we can't send a check first (RFC 6544 §6.2).
        announce(hostCandidate(of: base, seenAs: address, .passive))
        advance(now: now)
    }

    /// Removes a closed listener with the connections of its peers.
    package mutating func removeListener(_ address: TransportAddress, now: Instant) {
        let id = BaseAddress(address, over: .tcp)
        guard isActive, locals.base(at: id)?.tcpType == .passive else { return }
        loseBases([id], as: .connectionLost, now: now)
        advance(now: now)
    }

    /// Adds active candidates for peers with passive TCP candidates: one for each address of ours that can reach one
    /// (RFC 6544 §4.1). Descriptions show port 9, and the system chooses the port for the connection. Here the base has
    /// port 0, which no socket has.
    mutating func addActiveBases() {
        guard configuration.iceTransportPolicy == .all else { return }
        for remote in remotes.candidates where remote.tcpType == .passive {
            for socket in locals.bases where socket.route == .socket {
                let base = Base(
                    address: TransportAddress(ip: socket.address.ip, port: 0), localPreference: socket.localPreference,
                    route: .active(socket.address))
                let discard = TransportAddress(ip: socket.address.ip, port: Self.discardPort)
                let candidate = hostCandidate(of: base, seenAs: discard, .active)
                guard !locals.hasBase(at: base.id), Self.isWorthChecking(candidate, remote),
                    locals.candidates.count < limits.localCandidates
                else { continue }
                locals.add(base)
                announce(candidate)
                pairWithRemotes(candidate)
            }
        }
    }

    private mutating func hostCandidate(of base: Base, seenAs address: TransportAddress, _ type: TCPType) -> Candidate {
        Candidate(
            foundation: locals.foundation(type: .host, base: base.address.ip, server: nil, tcpType: type),
            priority: Candidate.priority(
                type: .host, over: .tcp, localPreference: type.localPreference(of: .host, base: base)),
            address: address, type: .host, base: base.address, tcpType: type)
    }

    private mutating func announce(_ candidate: Candidate) {
        locals.add(candidate)
        emit(.candidateGathered(candidate))
    }

    /// The port of an active candidate in descriptions.
    private static let discardPort: UInt16 = 9

    /// Whether we open connections to an address: that of a candidate of the peer, or of the pair that a restart is
    /// replacing.
    func isStreamPeer(_ remote: TransportAddress) -> Bool {
        remotes.index(of: remote, .passive) != nil
            || checklist.pairs.contains { $0.remote.address == remote && $0.remote.tcpType == .passive }
    }

    /// Handles a connection that could not be opened, or that ended.
    mutating func streamFailed(from base: BaseAddress, to remote: TransportAddress, now: Instant) {
        switch locals.base(at: base)?.tcpType {
        case .active: activeStreamFailed(from: base, to: remote, now: now)
        case .passive: passiveStreamEnded(from: remote, at: base, now: now)
        case nil: return
        }
    }

    /// Handles the end of a connection that the peer opened. Only the peer can open another one, which makes another
    /// pair.
    private mutating func passiveStreamEnded(from remote: TransportAddress, at base: BaseAddress, now: Instant) {
        func isEnded(_ pair: CandidatePair) -> Bool { pair.base == base && pair.remote.address == remote }
        incoming.forgetEarly(from: remote, to: base)
        for index in checklist.pairs.indices where isEnded(checklist.pairs[index]) {
            transactions.remove(of: checklist.pairs[index].id)
            checklist.fail(index, as: .connectionLost)
            checklist.pairs[index].isNominated = false
        }
        if let index = checklist.selectedIndex, isEnded(checklist.pairs[index]) { replaceSelected(index, now: now) }
        checklist.pairs.removeAll(where: isEnded)
        if let index = remotes.index(of: remote, .active) { _ = remotes.remove(index) }
    }

    /// Handles a connection of ours that could not be opened, or that ended. A consent check on the selected pair still
    /// opens it again. Other checks open it after a delay, since a route can come back.
    private mutating func activeStreamFailed(from base: BaseAddress, to remote: TransportAddress, now: Instant) {
        // A restart can create a second pair with the same addresses, which uses the same connection.
        for index in checklist.pairs.indices
        where checklist.pairs[index].base == base && checklist.pairs[index].remote.address == remote {
            let id = checklist.pairs[index].id
            if id == checklist.selected {
                checklist.pairs[index].failure = .connectionLost
                disconnect()
            } else if checklist.pairs[index].state == .inProgress, transactions.reopen(of: id, now: now) {
                checklist.pairs[index].failure = .connectionLost
            } else {
                transactions.remove(of: id)
                checklist.fail(index, as: .connectionLost)
            }
        }
    }
}
