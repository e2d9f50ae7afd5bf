package import RTCShareICE
package import RTCSharePeerConnection
package import RTCShareSDP

/// How a connection goes: those events of a peer connection that are neither of one sender, which hears them itself, nor of
/// what the peer sends.
package enum ConnectionEvent: Sendable {
    /// Every STUN and TURN server has answered or was given up.
    case gatheringComplete
    /// A STUN or TURN server gave nothing, or gives nothing any longer.
    case serverFailed(ServerFailure)
    /// Media can flow.
    case connected
    /// The peer has not answered for some seconds; it may come back.
    case disconnected
    /// The peer answers again.
    case reconnected
    /// There is nothing to send on; an ICE restart can find another way.
    case restartNeeded
    /// A candidate for the peer, where both sides trickle.
    case localCandidate(CandidateAttribute, mid: String, ufrag: String)
    /// No further candidate will come, unless an address is added.
    case localCandidatesEnded
    /// The peer said goodbye.
    case closedByPeer
    /// The connection can't begin, or has ended.
    case failed(PeerConnection.Failure)

    /// Nil for what is told elsewhere.
    init?(_ event: PeerConnection.Event) {
        switch event {
        case .gatheringComplete: self = .gatheringComplete
        case .serverFailed(let failure): self = .serverFailed(failure)
        case .connected: self = .connected
        case .disconnected: self = .disconnected
        case .reconnected: self = .reconnected
        case .restartNeeded: self = .restartNeeded
        case .localCandidate(let candidate, let mid, let ufrag):
            self = .localCandidate(candidate, mid: mid, ufrag: ufrag)
        case .localCandidatesEnded: self = .localCandidatesEnded
        case .closedByPeer: self = .closedByPeer
        case .failed(let failure): self = .failed(failure)
        case .feedbackStopped, .keyFrameRequested, .lossReported, .targetBitrateChanged: return nil
        case .activityChanged, .remoteMediaChanged: return nil
        }
    }
}

extension ConnectionEvent: QueuedEvent {
    func outdates(_ old: ConnectionEvent) -> Bool {
        switch (old, self) {
        case (.disconnected, .reconnected), (.reconnected, .disconnected), (.disconnected, .disconnected),
            (.reconnected, .reconnected), (.restartNeeded, .restartNeeded),
            (.gatheringComplete, .gatheringComplete), (.localCandidatesEnded, .localCandidatesEnded):
            true
        case (.serverFailed(let failure), .serverFailed(let other)):
            failure.server == other.server && failure.base == other.base
        case (.localCandidate(_, _, let fragment), .localCandidate(_, _, let other)):
            fragment != other
        default:
            false
        }
    }
}
