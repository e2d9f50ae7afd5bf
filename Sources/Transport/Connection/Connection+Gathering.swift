internal import Logging
internal import NIOCore
package import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// Servers that help to connect.
extension Connection {
    /// Asks the configuration's servers how this machine looks from outside and for addresses to relay from, and returns
    /// when all have answered or were given up, or after `patience` where one, or the name server, is slow: what comes
    /// later is used all the same, by who trickles. Where both sides trickle, the peer is then told that no more
    /// candidates will come; so it is where there are no servers.
    ///
    /// - Throws: ``ICEServerError/unresolvable(host:)`` or ``ICEServerError/unanswered(host:)`` where no server has an
    ///   address; where only some have none, they are left out.
    public func gather(patience: Duration? = nil) async throws(ICEServerError) {
        guard !isClosed else { return }
        askServers()
        await waitForServers(patience: patience)
        let failure = servers.unresolvable(of: configuration.iceServers.map(\.description))
        if servers.known.isEmpty, let failure { throw failure }
    }

    /// Asks the servers whose addresses are known at once, and the others as soon as their names are looked up.
    func askServers() {
        var known = servers.known
        var unknown: [ICEServer] = []
        for server in configuration.iceServers {
            do {
                if let addresses = try server.resolveKnown(by: configuration.serverNames) {
                    known += addresses.filter { !known.contains($0) }
                } else {
                    unknown.append(server)
                }
            } catch {
                recordUnresolvable(server, error)
            }
        }
        servers.lookUps += unknown.count
        gather(servers: known)
        for server in unknown {
            Task { [weak self, names = configuration.serverNames] in
                do {
                    let addresses = try await server.resolve(by: names)
                    await self?.ask(addresses)
                } catch let error as ICEServerError {
                    await self?.recordUnresolvable(server, error)
                    await self?.ask([])
                }
            }
        }
    }

    /// Takes what a look-up found.
    private func ask(_ addresses: [ICEServerAddress]) {
        servers.lookUps -= 1
        gather(servers: addresses)
    }

    private func recordUnresolvable(_ server: ICEServer, _ error: ICEServerError) {
        logger.info("\(error)")
        servers.recordUnresolvable(server.description, error)
    }

    /// Takes up relayed addresses that another connection left, from the same local addresses and ports, and returns when
    /// each server has answered or was given up. ``serverReports()`` then tells which still hold theirs.
    package func resume(_ relays: [RelayState]) async {
        guard !isClosed, !relays.isEmpty else { return }
        isGathering = true
        peer.resume(relays, now: MonotonicClock.now)
        drain()
        await waitForServers()
    }

    /// What is to be remembered of the relayed addresses over UDP, for another connection to take them up.
    package func relayStates() -> [RelayState] {
        peer.relayStates(now: MonotonicClock.now)
    }

    /// Says whether the connection's end, by ``close()`` or by failing, leaves the addresses of ``relayStates()`` with their
    /// servers for another connection, or gives them back as by default; from any thread.
    package nonisolated func setKeepsRelays(_ leaves: Bool) {
        eventLoop.execute {
            self.assumeIsolated { $0.peer.keepsRelays = leaves }
        }
    }

    /// Asks servers that are known by their addresses; ``PeerConnection/Event/gatheringComplete`` follows.
    package func gather(servers: [ICEServerAddress]) {
        guard !isClosed else { return }
        isGathering = true
        self.servers.ask(servers)
        peer.gather(servers: servers, moreFollow: self.servers.lookUps > 0, now: MonotonicClock.now)
        drain()
    }

    /// Returns when all servers have answered or were given up, or after `patience`. Other callers wait on.
    func waitForServers(patience: Duration? = nil) async {
        await withCheckedContinuation { waiter in
            guard isGathering, !isClosed else { return waiter.resume() }
            gatherWaiterCount += 1
            let number = gatherWaiterCount
            gatherWaiters[number] = waiter
            guard let patience else { return }
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience)) { [weak self] in
                self?.assumeIsolated { $0.gatherWaiters.removeValue(forKey: number)?.resume() }
            }
        }
    }

    func resumeGatherWaiters() {
        isGathering = false
        for waiter in gatherWaiters.values { waiter.resume() }
        gatherWaiters = [:]
    }

    /// What each server answered to each local address.
    package func serverReports() -> [ServerReport] {
        peer.serverReports()
    }

    /// The servers that gave nothing, a line each: which, and why.
    package func serverFailures() -> [String] {
        servers.failures(peer.serverReports())
    }

    /// Whether a TURN server relays for this connection.
    package var hasRelayedCandidate: Bool { peer.hasRelayedCandidate }
}
