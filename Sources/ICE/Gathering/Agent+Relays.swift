import RTCShareSTUN
import RTCShareWireFormat

extension Agent {
    /// An allocation at a TURN server, asked for from one base, and the candidate that it makes.
    struct Relay: Sendable {
        let server: ICEServerAddress
        let base: Base
        var allocation: TURNAllocation
        /// When it begins; nil once it has.
        var start: Instant?
        /// The base of the relayed candidate, while there is one.
        var relayed: TransportAddress?
        /// What the server sees of us.
        var mapped: TransportAddress?
        var error: TURNError?
        /// Where a server over a stream sent us to, and the name to ask it for its certificate by.
        var alternate: (server: TransportAddress, domain: String?)?
        /// Whether the other IP version was asked for already.
        var hasChangedFamily = false
        /// How often a lost allocation was asked for again.
        var revivals = 0
        /// When the binding of translators on the way is next kept alive.
        var keepalive: Instant?
        /// Whether its base is gone: another may take its place.
        var isAbandoned = false

        var transport: TransportProtocol { server.transport }

        /// Whether gathering need not wait for it any longer.
        var isSettled: Bool { relayed != nil || error != nil || isAbandoned }

        var deadline: Instant? {
            if isAbandoned { return nil }
            if let start { return start }
            return [allocation.nextDeadline, keepalive].compactMap { $0 }.min()
        }

        /// Whether what came this way came from its server.
        func isServer(_ source: TransportAddress, at local: TransportAddress, over transport: TransportProtocol) -> Bool
        {
            guard !isAbandoned, start == nil else { return false }
            return source == allocation.server && local == base.address && transport == self.transport
        }

        var report: ServerReport {
            ServerReport(
                server: server, base: base.address,
                outcome: error.map { .failed(.relay($0)) } ?? (relayed == nil ? .waiting : .answered),
                mappedAddress: mapped, relayedAddress: relayed, lifetime: relayed == nil ? nil : allocation.lifetime,
                roundTripTime: allocation.roundTripTime, alternateServer: alternate?.server)
        }
    }

    /// The IP version of the address that a base asks to be relayed from; see ``gather(servers:now:)``.
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
        asked.add(
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

    /// Begins, renews and follows the allocations, and asks them to let the peer's candidates through.
    mutating func advanceRelays(now: Instant) {
        for index in asked.relays.indices where !asked.relays[index].isAbandoned {
            if let start = asked.relays[index].start {
                guard start <= now else { continue }
                asked.relays[index].start = nil
                asked.relays[index].allocation.start(now: now)
            }
            if let due = asked.relays[index].allocation.nextDeadline, due <= now {
                asked.relays[index].allocation.handleTimeout(now: now)
            }
            followRelay(index, now: now)
            permitRemotes(index, now: now)
            drainRelay(index)
            guard let due = asked.relays[index].keepalive, due <= now else { continue }
            asked.relays[index].keepalive = now.advanced(by: timing.bindingKeepalive)
            keepAlive(asked.relays[index].allocation.server, from: asked.relays[index].base.address)
        }
    }

    private mutating func followRelay(_ index: Int, now: Instant) {
        while let event = asked.relays[index].allocation.pollEvent() {
            switch event {
            case .allocated(let relayed, let reflexive):
                asked.relays[index].mapped = reflexive
                addRelayed(relayed, reflexive, of: index, now: now)
            case .failed(let error): relayFailed(index, error, now: now)
            case .redirected(let other, let domain):
                asked.relays[index].alternate = (other, domain)
                // Over a stream the first transmit to the other server opens the connection there.
                if asked.relays[index].transport.isStream { asked.relays[index].allocation.start(now: now) }
            case .permissionRefused(let ip, let error): refusedByRelay(index, ip, error)
            // Routers' words, which anyone can forge: consent finds out by itself.
            case .peerUnreachable, .released: continue
            }
        }
    }

    /// Queues what an allocation has to say to its server.
    private mutating func drainRelay(_ index: Int) {
        while let transmit = asked.relays[index].allocation.pollTransmit() {
            queue(
                Transmit(
                    base: asked.relays[index].base.address, destination: transmit.server, bytes: transmit.bytes,
                    transport: asked.relays[index].transport))
        }
    }

    /// A relayed candidate, its base, and what the server saw of the socket (RFC 8445 §5.1.1.2). The reflexive address
    /// is that of our socket only where the server was asked over UDP.
    private mutating func addRelayed(
        _ relayed: TransportAddress, _ reflexive: TransportAddress, of index: Int, now: Instant
    ) {
        let relay = asked.relays[index]
        guard !locals.hasBase(at: relayed), relayed.port != 0, !relayed.ip.isUnspecified,
            !relayed.ip.isMulticast, locals.candidates.count < limits.localCandidates
        else {
            // Nobody is to choose an address that is another base of ours.
            statistics.overLimit += 1
            asked.relays[index].allocation.release(now: now)
            drainRelay(index)
            relayEnded(index, .malformedResponse, now: now)
            return
        }
        asked.relays[index].relayed = relayed
        if relay.transport == .udp {
            asked.relays[index].keepalive = now.advanced(by: timing.bindingKeepalive)
            if configuration.iceTransportPolicy == .all {
                addReflexive(reflexive, of: relay.base, server: relay.server)
            }
        }
        var preference = relay.base.localPreference
        while preference > 0, locals.bases.contains(where: { $0.isRelay && $0.localPreference == preference }) {
            preference -= 1
        }
        let base = Base(address: relayed, localPreference: preference, route: .relay(index))
        locals.add(base)
        // A peer that is to see nothing but the relay is not shown what the server sees either (as in browsers).
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

    /// An allocation that could not be had, or is lost.
    private mutating func relayFailed(_ index: Int, _ error: TURNError, now: Instant) {
        let relay = asked.relays[index]
        if error == .unsupportedAddressFamily, !relay.hasChangedFamily, case .turn(let credentials) = relay.server.kind
        {
            // A server of one IP version: the address that it has is better than none.
            let family: AddressFamily = relay.allocation.configuration.family == .v4 ? .v6 : .v4
            asked.relays[index].hasChangedFamily = true
            asked.relays[index].allocation = allocation(at: relay.server, credentials, family: family)
            asked.relays[index].allocation.start(now: now)
            return
        }
        if error == .portInUse, !asked.isPortShared(index), asked.relays[index].allocation.reclaim(now: now) { return }
        relayEnded(index, error, now: now)
        guard relay.relayed != nil, relay.revivals < Self.revivalLimit, case .turn(let credentials) = relay.server.kind,
            error == .allocationLost || error == .connectionLost(relay.transport)
        else { return }
        // The server may have begun anew; what it gives now is told as a new candidate.
        var revived = Relay(
            server: relay.server, base: relay.base,
            allocation: allocation(at: relay.server, credentials, family: relay.allocation.configuration.family),
            start: now.advanced(by: .seconds(1 << relay.revivals)))
        revived.hasChangedFamily = relay.hasChangedFamily
        revived.revivals = relay.revivals + 1
        asked.relays[index] = revived
    }

    /// Each waits twice as long as the one before.
    private static let revivalLimit = 5

    /// Nothing comes back through a relay: it is asked whether it still is one.
    mutating func verifyRelay(of base: TransportAddress, now: Instant) {
        guard case .relay(let index) = locals.base(at: base)?.route else { return }
        asked.relays[index].allocation.verify(now: now)
        drainRelay(index)
    }

    private mutating func relayEnded(_ index: Int, _ error: TURNError, now: Instant) {
        let relay = asked.relays[index]
        asked.relays[index].error = error
        asked.relays[index].keepalive = nil
        emit(.serverFailed(ServerFailure(server: relay.server, base: relay.base.address, error: .relay(error))))
        guard let relayed = relay.relayed else { return }
        asked.relays[index].relayed = nil
        loseBases([relayed], as: .relayLost(error), now: now)
    }

    /// Says that the connection to a TURN server ended, or that datagrams can't be sent to it.
    mutating func failRelay(
        base: TransportAddress, server: TransportAddress, over transport: TransportProtocol, now: Instant
    ) {
        for index in asked.relays.indices where asked.relays[index].isServer(server, at: base, over: transport) {
            // A route can come back while an allocation lasts; its next refresh finds out.
            if transport == .udp, asked.relays[index].relayed != nil { continue }
            asked.relays[index].allocation.transportFailed(now: now)
        }
    }

    /// A relay lets through whom it was told of: every address that is to be checked from it (RFC 8445 §7.2.2).
    private mutating func permitRemotes(_ index: Int, now: Instant) {
        guard let relayed = asked.relays[index].relayed else { return }
        for pair in checklist.pairs where pair.base == relayed && pair.state != .failed {
            asked.relays[index].allocation.permit(pair.remote.address.ip, now: now)
            if pair.id == checklist.selected { asked.relays[index].allocation.bind(pair.remote.address, now: now) }
        }
    }

    private mutating func refusedByRelay(_ index: Int, _ ip: IPAddress, _ error: ErrorCode?) {
        for pair in checklist.pairs.indices
        where checklist.pairs[pair].base == asked.relays[index].relayed && checklist.pairs[pair].remote.address.ip == ip
        {
            checklist.fail(pair, as: .refusedByRelay(code: error?.code ?? 0, reason: error?.reason ?? ""))
            if checklist.pairs[pair].id == checklist.selected { disconnect() }
        }
    }

    /// Sends through a relay; without a permission for the peer nothing is sent.
    mutating func relay(_ bytes: [UInt8], to peer: TransportAddress, through index: Int) {
        guard let message = asked.relays[index].allocation.enclosed(bytes.span.bytes, to: peer) else {
            statistics.overLimit += 1
            return
        }
        queue(
            Transmit(
                base: asked.relays[index].base.address, destination: asked.relays[index].allocation.server,
                bytes: message,
                transport: asked.relays[index].transport))
    }

    /// Gives the relayed addresses back (RFC 8656 §8), unless they are left: said once, as nobody waits for the answers.
    mutating func releaseRelays(now: Instant) {
        for index in asked.relays.indices where asked.relays[index].start == nil && !asked.relays[index].isAbandoned {
            if leavesRelays { asked.relays[index].allocation.leave() }
            asked.relays[index].allocation.release(now: now)
            drainRelay(index)
        }
    }
}
