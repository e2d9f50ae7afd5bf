internal import RTCShareICE
package import RTCShareWireFormat

/// ICE restarts: another path for the association that stands (RFC 8839 §4.4.1.1.1, RFC 9429 §5.2.1).
extension PeerConnection {
    /// Has the next ``makeOffer()`` restart ICE: it has new credentials, and its answer begins new checks. Until those
    /// find a pair, media goes on as it did. Before the first descriptions there is nothing to restart.
    package mutating func restartICE() {
        guard !state.isOver, negotiated != nil else { return }
        ice.wantRestart()
    }

    /// Asks servers again what this peer looks like from outside, as for a restart; ``Event/gatheringComplete`` follows
    /// where there are any.
    package mutating func gatherAgain(now: Instant) {
        guard !state.isOver else { return }
        ice.gatherAgain(now: now)
        advance(now: now)
    }

    /// Whether servers are being waited for.
    package var isGathering: Bool { ice.agent.isGathering }

    /// The fragments that the peer's checks may name: those in use, and those of an offer that was not answered.
    package var usernameFragments: [String] { ice.agent.localFragments }

    /// Whether there is nothing to send on, and no restart under way that could change it.
    package var needsRestart: Bool { ice.agent.needsRestart }

    /// Takes back an offer that restarts ICE and was not answered, as to answer the peer's that crosses it (RFC 9429
    /// §4.1.10.2). The next offer restarts again.
    package mutating func rollbackOffer() {
        ice.withdrawOffer()
    }

    /// Takes a socket's address away that is gone, as with its interface. Where media went from there, another pair that
    /// works takes over at once; where there is none, ``Event/restartNeeded`` says so.
    package mutating func removeLocalAddress(_ address: TransportAddress, now: Instant) {
        guard !state.isOver else { return }
        ice.agent.removeLocalHost(address, now: now)
        advance(now: now)
    }

    /// Whether frames can be sent, now or after a short silence.
    var takesFrames: Bool {
        state == .connected || (state == .disconnected && path.isThere)
    }

    /// What was dropped while there was nothing to send on is missing at the peer.
    mutating func requestKeyFrames() {
        guard state.hasConnected else { return }
        for index in outbound.indices where outbound[index].isActive {
            outbound[index].video?.keyFrameRequests.request()
        }
    }
}
