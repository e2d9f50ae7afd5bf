package import RTCShareWireFormat

extension Agent {
    /// Adds a socket. Its address is a host candidate and the base of other candidates.
    ///
    /// `interfaceOrder` is the position of the interface in the system's order of preference. It ranks addresses of one
    /// type (RFC 8445 §5.1.2.2).
    package mutating func addLocalHost(_ base: TransportAddress, interfaceOrder: Int = 0, now: Instant) {
        guard isActive, !locals.hasBase(at: BaseAddress(base)) else { return }
        guard max(locals.bases.count, locals.candidates.count) < limits.localCandidates else {
            statistics.overLimit += 1
            return
        }
        var preference = Candidate.localPreference(of: base.ip, interfaceOrder: interfaceOrder)
        while preference > 0, locals.bases.contains(where: { $0.localPreference == preference }) { preference -= 1 }
        locals.add(Base(address: base, localPreference: preference))
        // The base serves only requests to relays, and the peer does not learn it.
        guard configuration.iceTransportPolicy == .all else { return advance(now: now) }
        let candidate = Candidate(
            foundation: locals.foundation(type: .host, base: base.ip, server: nil),
            priority: Candidate.priority(type: .host, localPreference: preference), address: base, type: .host)
        locals.add(candidate)
        emit(.candidateGathered(candidate))
        pairWithRemotes(candidate)
        addActiveBases()
        advance(now: now)
    }

    /// Pairs the candidate of a new base. A base that was removed before can be checked again.
    mutating func pairWithRemotes(_ candidate: Candidate) {
        checklist.pairs.removeAll {
            $0.base == candidate.baseAddress && $0.state == .failed && !$0.hasLostConsent && $0.id != checklist.selected
        }
        for remote in remotes.candidates where Self.isWorthChecking(candidate, remote) { addPair(candidate, remote) }
    }

    /// Adds a candidate of the peer, from the fields of its line (RFC 8839 §5.1, RFC 6544 §4.5). The caller must
    /// resolve a name to an address first, or call ``noteUnresolvedRemoteName()`` if that fails.
    @discardableResult
    package mutating func addRemoteCandidate(
        foundation: String, component: Int, transport: String, priority: UInt32, address: TransportAddress,
        type: String, tcpType: String? = nil, now: Instant
    ) -> RemoteCandidateOutcome {
        let outcome = takeRemoteCandidate(
            foundation: foundation, component: component, transport: transport, priority: priority, address: address,
            type: type, tcpType: tcpType)
        switch outcome {
        case .added, .known: break
        case .overLimit: statistics.overLimit += 1
        case .ignoredTransport, .ignoredComponent, .ignoredType, .ignoredAddress:
            statistics.remoteCandidatesIgnored += 1
        }
        advance(now: now)
        return outcome
    }

    /// Records that the peer announced a name that could not be resolved. The agent then waits for checks from the
    /// peer, until its overall limit.
    package mutating func noteUnresolvedRemoteName() {
        statistics.remoteNamesUnresolved += 1
    }

    /// Records that the peer will announce no more candidates (RFC 8838 §13).
    package mutating func endOfRemoteCandidates(now: Instant) {
        remotes.end()
        advance(now: now)
    }

    private mutating func takeRemoteCandidate(
        foundation: String, component: Int, transport: String, priority: UInt32, address: TransportAddress,
        type: String, tcpType: String?
    ) -> RemoteCandidateOutcome {
        let tcpType: TCPType? = transport.lowercased() == "tcp" && tcpType == "passive" ? .passive : nil
        guard tcpType == .passive || transport.lowercased() == "udp" else { return .ignoredTransport }
        guard component == 1 else { return .ignoredComponent }
        guard let type = CandidateType(rawValue: type) else { return .ignoredType }
        guard address.port != 0, !address.ip.isUnspecified, !address.ip.isMulticast, !address.ip.isV4Mapped else {
            return .ignoredAddress
        }
        // The foundation is text from the peer, whose length is limited.
        let remote = Candidate(
            foundation: String(foundation.prefix(32)), priority: priority, address: address, type: type,
            tcpType: tcpType)
        if let index = remotes.index(of: address, tcpType) {
            // The candidate is known from a check, or was announced twice. The announced type and priority apply (RFC
            // 8838 §11.4).
            guard remotes.candidates[index].type == .peerReflexive else { return .known }
            remotes.replace(index, with: remote)
            for index in checklist.pairs.indices where checklist.pairs[index].isOf(remote) {
                checklist.pairs[index].remote = remote
            }
            updatePriorities()
            return .known
        }
        guard makeRoomForRemote() else { return .overLimit }
        remotes.add(remote)
        if tcpType == .passive { addActiveBases() }
        for base in locals.bases {
            guard let local = locals.candidate(of: base.id), Self.isWorthChecking(local, remote) else { continue }
            addPair(local, remote)
        }
        return .added
    }

    /// Returns whether there is room for another candidate of the peer, after it has removed one if necessary. An
    /// attacker who forwards the peer's check from many addresses must not use up the room. So this removes the oldest
    /// peer-reflexive candidate that never answered.
    mutating func makeRoomForRemote() -> Bool {
        guard remotes.candidates.count >= limits.remoteCandidates else { return true }
        let index = remotes.candidates.firstIndex { remote in
            remote.type == .peerReflexive
                && checklist.pairs.allSatisfy { !$0.isOf(remote) || $0.state == .failed && $0.latestResponse == nil }
        }
        guard let index else { return false }
        let gone = remotes.remove(index)
        checklist.pairs.removeAll { $0.isOf(gone) }
        return true
    }

    /// Whether a pair is worth checking. One side opens a TCP connection and the other accepts it (RFC 6544 §6.2).
    /// Transports, families and scopes (RFC 4007 §6) must agree: a loopback address
    /// means its own machine, and a link-local one its own link. From any other address or through a relay, the check
    /// would reach another host, which the peer must not cause. Private addresses are paired with all, since routers
    /// map them.
    static func isWorthChecking(_ local: Candidate, _ remote: Candidate) -> Bool {
        let (from, to) = (local.base.ip, remote.address.ip)
        return local.tcpType == remote.tcpType?.opposite && from.isV4 == to.isV4 && from.isLoopback == to.isLoopback
            && from.isLinkLocal == to.isLinkLocal
    }

    /// Adds a pair to the checklist, unless it exists. Returns its index, or nil if there is no room.
    @discardableResult
    mutating func addPair(_ local: Candidate, _ remote: Candidate) -> Int? {
        if let index = checklist.index(base: local.baseAddress, remote: remote.address) { return index }
        let priority = CandidatePair.priority(local: local.priority, remote: remote.priority, role: role)
        if checklist.pairs.count >= limits.pairs {
            statistics.overLimit += 1
            guard checklist.makeRoom(for: priority) else { return nil }
        }
        return checklist.add(local, remote, priority: priority)
    }

    mutating func updatePriorities() {
        for index in checklist.pairs.indices {
            let local = locals.candidate(of: checklist.pairs[index].base) ?? checklist.pairs[index].local
            checklist.pairs[index].priority = CandidatePair.priority(
                local: local.priority, remote: checklist.pairs[index].remote.priority, role: role)
        }
    }
}
