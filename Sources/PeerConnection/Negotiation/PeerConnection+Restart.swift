internal import RTCShareICE
package import RTCShareWireFormat

/// ICE restarts, which find another route for the existing DTLS association (RFC 8839 §4.4.1.1.1, RFC 9429 §5.2.1).
extension PeerConnection {
    /// Requests an ICE restart in the next ``makeOffer()``: it has new credentials, and its answer starts new checks.
    /// Until those find a pair, media stays on the former one. Before the first descriptions the call has no effect.
    package mutating func restartICE() {
        guard !state.isOver, negotiated != nil else { return }
        ice.wantRestart()
    }

    /// Sends new requests for our addresses to servers, as for a restart. ``Event/gatheringComplete`` follows if there
    /// are any.
    package mutating func gatherAgain(now: Instant) {
        guard !state.isOver else { return }
        ice.gatherAgain(now: now)
        advance(now: now)
    }

    /// Whether requests to servers are pending.
    package var isGathering: Bool { ice.agent.isGathering }

    /// The user name fragments of the peer's checks: the current ones, and those of an unanswered offer.
    package var usernameFragments: [String] { ice.agent.localFragments }

    /// Whether there is no pair left to send on, and no restart in progress that could find one.
    package var needsRestart: Bool { ice.agent.needsRestart }

    /// Rolls back an unanswered offer that restarts ICE, for example to answer the peer's offer that crosses it (RFC
    /// 9429 §4.1.10.2). The next offer restarts ICE again.
    package mutating func rollbackOffer() {
        ice.withdrawOffer()
    }

    /// Removes the address of a closed socket, for example of a removed interface. If media used it, another working
    /// pair replaces it. If there is none, ``Event/restartNeeded`` follows.
    package mutating func removeLocalAddress(_ address: TransportAddress, now: Instant) {
        guard !state.isOver else { return }
        ice.agent.removeLocalHost(address, now: now)
        advance(now: now)
    }

    /// Removes the address of a closed listener, with the connections of its peers.
    package mutating func removeListener(_ address: TransportAddress, now: Instant) {
        guard !state.isOver else { return }
        ice.agent.removeListener(address, now: now)
        advance(now: now)
    }

    /// Whether frames can be sent, now or after a short interruption.
    var takesFrames: Bool {
        state == .connected || (state == .disconnected && path.isThere)
    }

    /// Requests key frames, since the peer lacks the frames that were dropped without a pair.
    mutating func requestKeyFrames() {
        guard state.hasConnected else { return }
        for index in outbound.indices where outbound[index].isActive {
            outbound[index].video?.keyFrameRequests.request()
        }
    }
}
