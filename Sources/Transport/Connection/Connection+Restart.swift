internal import NIOCore
internal import RTCSharePeerConnection
package import RTCShareWireFormat

/// Another path for a connection that stands: new credentials, and sockets that come and go with interfaces.
extension Connection {
    /// Has the next ``offer()`` restart ICE; see `PeerConnection.restartICE()`. Servers are asked again what this
    /// machine looks like from outside.
    public func restartICE() {
        peer.restartICE()
        askServersAgain()
    }

    /// Asks servers again, as before the answer to an offer that restarts ICE, and returns when all have answered or were
    /// given up, or after `patience`.
    package func gatherAgain(patience: Duration) async {
        guard !isClosed else { return }
        askServersAgain()
        await waitForServers(patience: patience)
    }

    private func askServersAgain() {
        peer.gatherAgain(now: MonotonicClock.now)
        isGathering = peer.isGathering
        drain()
    }

    /// Whether there is nothing to send on, and no restart under way that could change it.
    public var needsRestart: Bool { peer.needsRestart }

    /// Takes back an offer that restarts ICE and was not answered; see `PeerConnection.rollbackOffer()`.
    public func rollbackOffer() {
        pendingOffer = nil
        peer.rollbackOffer()
        registerFragments()
        drain()
    }

    /// Listens at one more address while the connection runs, at `port` or one that the system picks, and says where. An
    /// address that has a socket already keeps that.
    @discardableResult
    package func addLocalAddress(_ address: IPAddress, port: UInt16 = 0) async throws -> TransportAddress {
        guard !isClosed else { throw PeerConnectionError.ended }
        if let known = peer.localAddresses.first(where: { $0.ip == address }) { return known }
        let local = try await sockets.open(at: TransportAddress(ip: address, port: port))
        guard !isClosed else { throw PeerConnectionError.ended }
        // Another call may have opened one while this waited.
        if let known = peer.localAddresses.first(where: { $0.ip == address }) {
            if known != local { sockets.remove(local) }
            return known
        }
        peer.addLocalAddress(local, now: MonotonicClock.now)
        drain()
        return local
    }

    /// Listens at an address no more, as where its interface is gone: what was relayed or connected from there ends too.
    /// Media moves to another pair that works, or ``ConnectionSignal/restartNeeded`` says that there is none.
    package func removeLocalAddress(_ address: IPAddress) {
        for local in peer.localAddresses where local.ip == address {
            sockets.remove(local)
            peer.removeLocalAddress(local, now: MonotonicClock.now)
        }
        drain()
    }
}
