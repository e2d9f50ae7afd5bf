import RTCShareSTUN
import RTCShareWireFormat

extension Agent {
    /// Returns the IP version of the relayed address that a base requests; see ``gather(servers:now:)``.
    func relayedFamily(from base: Base, servers: [ICEServerAddress]) -> AddressFamily {
        guard !base.address.ip.isV4 else { return .v4 }
        let isOtherServed = servers.contains { server in
            guard case .turn = server.kind, server.address.ip.isV4 else { return false }
            return locals.bases.contains { Self.isWorthAsking(server.address.ip, from: $0) }
        }
        return isOtherServed ? .v6 : .v4
    }

    mutating func addRelay(
        _ server: ICEServerAddress, _ credentials: LongTermCredentials, from base: Base, family: AddressFamily,
        at start: Instant
    ) {
        asked.relays.add(
            Relay(
                server: server, base: base, allocation: allocation(at: server, credentials, family: family),
                start: start))
    }

    private mutating func allocation(
        at server: ICEServerAddress, _ credentials: LongTermCredentials, family: AddressFamily
    ) -> TURNAllocation {
        TURNAllocation(
            configuration: turnConfiguration(at: server, credentials, family: family), generator: generator)
    }

    func turnConfiguration(
        at server: ICEServerAddress, _ credentials: LongTermCredentials, family: AddressFamily
    ) -> TURNConfiguration {
        var configuration = TURNConfiguration(
            server: server.address, transport: server.transport, credentials: credentials, family: family)
        configuration.software = self.configuration.software
        configuration.timing.lifetime = timing.relayLifetime
        configuration.peerLimit = limits.pairs
        configuration.transmitLimit = limits.transmits
        return configuration
    }

    /// Starts, refreshes and monitors the allocations, and creates permissions for the peer's candidates.
    mutating func advanceRelays(now: Instant) {
        for index in asked.relays.indices {
            guard asked.relays[index].advance(now: now) else { continue }
            updateRelay(index, now: now)
            permitRemotes(index, now: now)
            drainRelay(index)
            let next = now.advanced(by: timing.bindingKeepalive)
            guard asked.relays[index].takeKeepalive(now: now, next: next) else { continue }
            askWhatIsSeen(ofRelay: index, now: now)
        }
    }

    /// Sends one Binding request to a relay's server. It keeps NAT bindings alive, and the response shows whether they
    /// have changed.
    private mutating func askWhatIsSeen(ofRelay index: Int, now: Instant) {
        let id = TransactionID(using: &generator)
        guard let bytes = try? STUNMessage(.request, transactionID: id).encoded() else { return }
        transactions[id] = Transaction(
            id: id, purpose: .relayBinding(index), base: asked.relays[index].base.id,
            destination: asked.relays[index].allocation.server, bytes: bytes, isRepeated: false,
            firstTransmission: now, latestTransmission: now, limit: now, due: now,
            wait: timing.bindingKeepalive / 2)
    }

    /// Handles the response. If the server sees another address than the one that it granted the allocation to, the
    /// allocation is lost, and the relay is verified immediately.
    mutating func finishBinding(
        ofRelay index: Int, _ transaction: Transaction, with message: STUNMessage, now: Instant
    ) {
        transactions[transaction.id] = nil
        guard message.messageClass == .successResponse, let mapped = message.mappedAddress,
            mapped != asked.relays[index].mapped,
            asked.relays[index].isServer(transaction.destination, at: transaction.base.address, over: .udp)
        else { return }
        asked.relays[index].verify(now: now)
        drainRelay(index)
    }

    private mutating func updateRelay(_ index: Int, now: Instant) {
        var former = asked.relays[index].mapped
        while let event = asked.relays[index].pollEvent(now: now) {
            switch event {
            case .allocated(let relayed, let reflexive):
                addRelayed(relayed, reflexive, insteadOf: former, of: index, now: now)
                former = reflexive
            case .failed(let error): relayFailed(index, error, now: now)
            case .permissionRefused(let ip, let error): refusedByRelay(index, ip, error)
            // The relay handles redirects itself. ICMP errors can be forged, so that only consent decides.
            case .redirected, .peerUnreachable, .released: continue
            }
        }
    }

    /// Queues an allocation's messages to its server.
    private mutating func drainRelay(_ index: Int) {
        while let transmit = asked.relays[index].pollTransmit() { queue(transmit) }
    }

    /// Adds a relayed candidate with its base, and the mapped address of the socket (RFC 8445 §5.1.1.2). The mapped
    /// address belongs to our socket only if the request was sent over UDP, and from that socket.
    private mutating func addRelayed(
        _ relayed: TransportAddress, _ reflexive: TransportAddress, insteadOf former: TransportAddress?, of index: Int,
        now: Instant
    ) {
        let relay = asked.relays[index]
        guard !locals.hasBase(at: BaseAddress(relayed)), relayed.port != 0, !relayed.ip.isUnspecified,
            !relayed.ip.isMulticast, locals.candidates.count < limits.localCandidates
        else {
            // A server must not allocate an address that is another base of ours.
            statistics.overLimit += 1
            asked.relays[index].release(now: now)
            drainRelay(index)
            relayEnded(index, .malformedResponse, now: now)
            return
        }
        asked.relays[index].relays(from: relayed, keepalive: now.advanced(by: timing.bindingKeepalive), now: now)
        if relay.transport == .udp, configuration.iceTransportPolicy == .all, !configuration.relaysHaveOwnPorts {
            addReflexive(reflexive, of: relay.base, server: relay.server, insteadOf: former)
        }
        var preference = relay.base.localPreference
        while preference > 0, locals.bases.contains(where: { $0.isRelay && $0.localPreference == preference }) {
            preference -= 1
        }
        let base = Base(address: relayed, localPreference: preference, route: .relay(index))
        locals.add(base)
        // A peer that may see only the relay does not learn the mapped address either (as in browsers).
        let hidden = TransportAddress(ip: relayed.ip.isV4 ? .v4(0) : .v6(0, 0), port: 0)
        var candidate = Candidate(
            foundation: locals.foundation(
                type: .relayed, base: relayed.ip, server: relay.server.address.ip, transport: relay.transport),
            priority: Candidate.priority(type: .relayed, over: relay.transport, localPreference: preference),
            address: relayed, type: .relayed,
            relatedAddress: configuration.iceTransportPolicy == .relay ? hidden : reflexive)
        candidate.relayProtocol = relay.transport
        candidate.url = relay.server.url
        locals.add(candidate)
        emit(.candidateGathered(candidate))
        pairWithRemotes(candidate)
    }

    /// Handles an allocation that failed or was lost.
    private mutating func relayFailed(_ index: Int, _ error: TURNError, now: Instant) {
        let relay = asked.relays[index]
        guard case .turn(let credentials) = relay.server.kind else { return }
        if let family = relay.otherFamily(after: error) {
            let other = allocation(at: relay.server, credentials, family: family)
            return asked.relays[index].changeFamily(by: other, now: now)
        }
        if error == .portInUse, !asked.relays.isPortShared(index), asked.relays[index].reclaim(now: now) { return }
        if let next = asked.relays[index].takeOtherCredentials(after: error) {
            if relay.relayed != nil { relayEnded(index, error, now: now) }
            return askAgain(index, next, at: now)
        }
        relayEnded(index, error, now: now)
        guard relay.isRevivable(after: error, now: now) else { return }
        let renewed = asked.relays[index].takeRenewedCredentials() ?? credentials
        let other = allocation(at: relay.server, renewed, family: relay.allocation.configuration.family)
        asked.relays[index].revive(by: other, now: now)
    }

    private mutating func askAgain(_ index: Int, _ credentials: LongTermCredentials, at start: Instant) {
        let relay = asked.relays[index]
        let other = allocation(at: relay.server, credentials, family: relay.allocation.configuration.family)
        asked.relays[index].ask(by: other, at: start)
    }

    /// Sends a new request to a TURN server that failed. Returns whether there is something to request.
    mutating func askAgain(relay index: Int, at start: Instant) -> Bool {
        guard asked.relays[index].hasFailed, case .turn(let credentials) = asked.relays[index].server.kind else {
            return false
        }
        askAgain(index, asked.relays[index].takeRenewedCredentials() ?? credentials, at: start)
        return true
    }

    /// Adds the credentials of a TURN server. A request that waits for its time uses renewed ones already.
    mutating func addCredentials(from servers: [ICEServerAddress], toRelay index: Int) {
        asked.relays[index].addCredentials(from: servers)
        guard let start = asked.relays[index].start, let renewed = asked.relays[index].takeRenewedCredentials() else {
            return
        }
        askAgain(index, renewed, at: start)
    }

    /// Verifies that a relay still exists, since no packets arrive through it.
    mutating func verifyRelay(of base: BaseAddress, now: Instant) {
        guard case .relay(let index) = locals.base(at: base)?.route else { return }
        asked.relays[index].verify(now: now)
        drainRelay(index)
    }

    private mutating func relayEnded(_ index: Int, _ error: TURNError, now: Instant) {
        let relay = asked.relays[index]
        let relayed = asked.relays[index].end(error)
        emit(.serverFailed(ServerFailure(server: relay.server, base: relay.base.address, error: .relay(error))))
        if let relayed { loseBases([BaseAddress(relayed)], as: .relayLost(error), now: now) }
    }

    /// Creates permissions at a relay for every address that is checked from it (RFC 8445 §7.2.2).
    private mutating func permitRemotes(_ index: Int, now: Instant) {
        guard let relayed = asked.relays[index].relayed else { return }
        for pair in checklist.pairs where pair.base == BaseAddress(relayed) && pair.state != .failed {
            asked.relays[index].permit(pair.remote.address, selected: pair.id == checklist.selected, now: now)
        }
    }

    private mutating func refusedByRelay(_ index: Int, _ ip: IPAddress, _ error: ErrorCode?) {
        guard let relayed = asked.relays[index].relayed.map({ BaseAddress($0) }) else { return }
        for pair in checklist.pairs.indices
        where checklist.pairs[pair].base == relayed && checklist.pairs[pair].remote.address.ip == ip {
            checklist.fail(pair, as: .refusedByRelay(code: error?.code ?? 0, reason: error?.reason ?? ""))
            if checklist.pairs[pair].id == checklist.selected { disconnect() }
        }
    }

    /// Sends through a relay. Without a permission for the peer this sends nothing.
    mutating func relay(_ bytes: [UInt8], to peer: TransportAddress, through index: Int) {
        guard let transmit = asked.relays[index].enclose(bytes, to: peer) else {
            statistics.overLimit += 1
            return
        }
        queue(transmit)
    }

    /// Releases the relayed addresses, unless they are left for another agent.
    mutating func releaseRelays(now: Instant) {
        for index in asked.relays.indices {
            asked.relays[index].release(leaving: keepsRelays, now: now)
            drainRelay(index)
        }
    }
}
