internal import FoundationEssentials
internal import Logging
internal import NIOCore
package import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// STUN and TURN servers.
extension Connection {
    /// Asks the configuration's servers for the public address of this machine and for relayed addresses. Returns when
    /// all have answered or timed out, or after `patience` if one, or the name server, is slow: later answers are still
    /// used if both sides trickle. In that case the peer is then notified of the end of candidates, also if there are
    /// no servers.
    ///
    /// - Throws: ``ICEServerError/unresolvable(host:)`` or ``ICEServerError/unanswered(host:)`` if no server has an
    ///   address. If only some have none, they are ignored.
    public func gather(patience: Duration? = nil) async throws(ICEServerError) {
        guard !isClosed else { return }
        askServers()
        await waitForServers(patience: patience)
        let failure = servers.unresolvable(of: configuration.iceServers.map(\.description))
        if servers.known.isEmpty, let failure { throw failure }
    }

    /// Asks the servers with new credentials if those from a shared secret are old, at a restart and after the failure
    /// of a relay. Relayed addresses keep those that they began with (RFC 8656 §5), and the next ones get the new ones.
    func renewCredentials() {
        if servers.needsGrant(now: Date()) { askServers() }
    }

    /// Asks the servers with known addresses at once, and the others as soon as their names are resolved.
    func askServers() {
        let now = Date()
        let granted = configuration.iceServers.map { servers.granted($0, now: now) }
        var known = servers.known
        var unknown: [ICEServer] = []
        for server in granted {
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

    /// Asks other servers than the configuration's, as soon as the names of all are resolved. Those without an address
    /// are ignored.
    package func gather(_ servers: [ICEServer]) async {
        var addresses: [ICEServerAddress] = []
        for server in servers {
            do {
                addresses += try await server.resolve(by: configuration.serverNames)
            } catch {
                logger.info("\(error)")
            }
        }
        if !addresses.isEmpty { gather(servers: addresses) }
    }

    /// Asks the servers at the addresses that a lookup found.
    private func ask(_ addresses: [ICEServerAddress]) {
        servers.lookUps -= 1
        gather(servers: addresses)
    }

    private func recordUnresolvable(_ server: ICEServer, _ error: ICEServerError) {
        logger.info("\(error)")
        servers.recordUnresolvable(server.description, error)
    }

    /// Resumes relayed addresses of a previous connection, from the same local addresses and ports, and returns when
    /// each server has answered or timed out. ``serverReports()`` then shows which relayed addresses are still valid.
    package func resume(_ relays: [RelayState]) async {
        guard !isClosed, !relays.isEmpty else { return }
        isGathering = true
        peer.resume(relays, now: MonotonicClock.now)
        drain()
        await waitForServers()
    }

    /// Returns the state of the relayed addresses over UDP, for another connection to resume them.
    package func relayStates() -> [RelayState] {
        peer.relayStates(now: MonotonicClock.now)
    }

    /// Sets whether the end of the connection, by ``close()`` or by a failure, keeps the addresses of ``relayStates()``
    /// at their servers for another connection, or releases them (the default). Any thread can call it.
    package nonisolated func setKeepsRelays(_ leaves: Bool) {
        eventLoop.execute {
            self.assumeIsolated { $0.peer.keepsRelays = leaves }
        }
    }

    /// Asks servers with known addresses; ``PeerConnection/Event/gatheringComplete`` follows.
    package func gather(servers: [ICEServerAddress]) {
        guard !isClosed else { return }
        isGathering = true
        self.servers.ask(servers)
        peer.gather(servers: servers, moreFollow: self.servers.lookUps > 0, now: MonotonicClock.now)
        drain()
    }

    /// Waits until all servers have answered or timed out, or for `patience`. Other callers continue to wait.
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

    /// Returns each server's answers to each local address.
    package func serverReports() -> [ServerReport] {
        peer.serverReports()
    }

    /// Returns the servers that failed, with the reason, a line each.
    package func serverFailures() -> [String] {
        servers.failures(peer.serverReports())
    }

    /// Whether a TURN server relays for this connection.
    package var hasRelayedCandidate: Bool { peer.hasRelayedCandidate }
}
