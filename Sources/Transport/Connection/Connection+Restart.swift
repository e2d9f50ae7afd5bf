internal import NIOCore
internal import RTCSharePeerConnection
package import RTCShareWireFormat

/// Other routes for an existing connection: new credentials, and sockets that follow the interfaces.
extension Connection {
    /// Has the next ``offer()`` restart ICE; see `PeerConnection.restartICE()`. Servers are asked again what this
    /// machine looks like from outside.
    public func restartICE() {
        peer.restartICE()
        askServersAgain()
    }

    /// Asks servers again, as before the answer to an offer that restarts ICE. Returns when all have answered or timed
    /// out, or after `patience`.
    package func gatherAgain(patience: Duration) async {
        guard !isClosed else { return }
        askServersAgain()
        await waitForServers(patience: patience)
    }

    private func askServersAgain() {
        renewCredentials()
        peer.gatherAgain(now: MonotonicClock.now)
        isGathering = peer.isGathering
        drain()
    }

    /// Whether no candidate pair can send, and no ICE restart is in progress that could change that.
    public var needsRestart: Bool { peer.needsRestart }

    /// Rolls back an unanswered offer that restarts ICE; see `PeerConnection.rollbackOffer()`.
    public func rollbackOffer() {
        pendingOffer = nil
        peer.rollbackOffer()
        registerFragments()
        drain()
    }

    /// Opens a socket at another address of an existing connection, at `port` or one that the system chooses, and
    /// returns its address. An address that has a socket already keeps that.
    @discardableResult
    package func addLocalAddress(_ address: IPAddress, port: UInt16 = 0) async throws -> TransportAddress {
        guard !isClosed else { throw PeerConnectionError.ended }
        if let known = peer.localAddresses.first(where: { $0.ip == address }) { return known }
        let local = try await sockets.open(at: TransportAddress(ip: address, port: port))
        guard !isClosed else { throw PeerConnectionError.ended }
        // Another call may have opened one in the meantime.
        if let known = peer.localAddresses.first(where: { $0.ip == address }) {
            if known != local { sockets.remove(local) }
            return known
        }
        peer.addLocalAddress(local, now: MonotonicClock.now)
        try await listen(at: local)
        drain()
        return local
    }

    /// Closes the socket at an address, for example if its interface was removed, with all relays and TCP connections
    /// from there. Media moves to another working candidate pair, or ``ConnectionSignal/restartNeeded`` reports that
    /// there is none.
    package func removeLocalAddress(_ address: IPAddress) {
        for local in peer.localAddresses where local.ip == address {
            if let listener = sockets.listener(at: address) {
                peer.removeListener(listener, now: MonotonicClock.now)
            }
            sockets.remove(local)
            peer.removeLocalAddress(local, now: MonotonicClock.now)
        }
        drain()
    }
}
