internal import RTCShareICE
internal import RTCShareSDP
package import RTCShareWireFormat

/// ICE restarts: another path for the association that stands (RFC 8839 §4.4.1.1.1, RFC 9429 §5.2.1).
extension PeerConnection {
    /// Has the next ``makeOffer()`` restart ICE: it has new credentials, and its answer begins new checks. Until those
    /// find a pair, media goes on as it did. Before the first descriptions there is nothing to restart.
    package mutating func restartICE() {
        guard progress != .ended, negotiated != nil else { return }
        ice.isRestartWanted = true
    }

    /// Whether there is nothing to send on, and no restart under way that could change it.
    package var needsRestart: Bool { agent.needsRestart }

    /// Takes back an offer that restarts ICE and was not answered, as to answer the peer's that crosses it (RFC 9429
    /// §4.1.10.2). The next offer restarts again.
    package mutating func rollbackOffer() {
        guard ice.offered != nil else { return }
        ice.offered = nil
        agent.withdrawRestart()
    }

    /// Takes a socket's address away that is gone, as with its interface. Where media went from there, another pair that
    /// works takes over at once; where there is none, ``Event/restartNeeded`` says so.
    package mutating func removeLocalAddress(_ address: TransportAddress, now: Instant) {
        guard progress != .ended else { return }
        agent.removeLocalHost(address, now: now)
        advance(now: now)
    }

    /// Draws the credentials of the next offer, where it is to restart and none are drawn yet.
    mutating func offerRestart() {
        guard ice.isRestartWanted, negotiated != nil, ice.offered == nil else { return }
        let drawn = drawCredentials()
        guard let credentials = try? Credentials(usernameFragment: drawn.usernameFragment, password: drawn.password)
        else { return }
        ice.offered = drawn
        agent.offerRestart(credentials: credentials)
    }

    mutating func drawCredentials() -> ICEAttributes {
        let drawn = Credentials.random(using: &random)
        return ICEAttributes(usernameFragment: drawn.usernameFragment, password: drawn.password)
    }

    /// Whether an offer of this side is the one that restarts.
    func isRestarting(_ offer: SessionDescription) throws(PeerConnectionError) -> Bool {
        guard negotiated != nil, let section = offer.media.first(where: { $0.port != 0 }),
            let credentials = try? offer.iceAttributes(of: section), credentials != ice.local
        else { return false }
        guard credentials == ice.offered else { throw .staleOffer }
        return true
    }

    /// Begins the new generation: all that can fail has come before, but for the peer's credentials.
    mutating func beginRestart(_ own: ICEAttributes, with session: NegotiatedSession, now: Instant) throws {
        let remote = try Credentials(
            usernameFragment: session.remoteICE.usernameFragment, password: session.remoteICE.password)
        let local = try Credentials(usernameFragment: own.usernameFragment, password: own.password)
        if let former = negotiated?.remoteICE.usernameFragment { ice.noteFormer(former) }
        ice.local = own
        agent.restart(credentials: local, now: now)
        agent.setRemote(credentials: remote, isLite: session.remoteIsICELite, now: now)
    }

    /// After a description was taken: what became of a restart that this side wanted or offered.
    mutating func settleOffer(isOwnOffer: Bool, hasRestarted: Bool, wasRestart: Bool) {
        if hasRestarted { ice.isRestartWanted = false }
        guard !isOwnOffer || wasRestart else { return }
        ice.offered = nil
        // With the restart itself the agent has done so.
        agent.withdrawRestart()
    }

    /// Whether frames can be sent, now or after a short silence.
    var takesFrames: Bool {
        progress == .connected || (progress == .disconnected && path.isThere)
    }

    /// What was dropped while there was nothing to send on is missing at the peer.
    mutating func requestKeyFrames() {
        guard progress == .connected || progress == .disconnected else { return }
        for index in outbound.indices where outbound[index].isActive {
            outbound[index].video?.keyFrameRequests.request()
        }
    }
}
