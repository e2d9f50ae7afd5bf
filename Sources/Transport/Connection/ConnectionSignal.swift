package import RTCSharePeerConnection
package import RTCShareSDP

/// A report of a connection to its session.
package enum ConnectionSignal: Sendable {
    /// The connection's state has changed. It is closed when the peer sends its goodbye. ``Connection/failure`` is the
    /// reason for a failure.
    case state(ConnectionState)
    /// No packet can be sent; an ICE restart can find another route.
    case restartNeeded
    /// A candidate for the peer, if both sides trickle.
    case localCandidate(CandidateAttribute, mid: String, ufrag: String)
    /// No further candidate of the description with this user name fragment will come, unless an address is added.
    case localCandidatesEnded(ufrag: String)

    /// Creates the signal; nil for an event that is reported elsewhere. `ufrag` is the user name fragment of the newest
    /// description of this side.
    init?(_ event: PeerConnection.Event, ufrag: @autoclosure () -> String) {
        switch event {
        case .stateChanged(let state): self = .state(state)
        case .restartNeeded: self = .restartNeeded
        case .localCandidate(let candidate, let mid, let ufrag):
            self = .localCandidate(candidate, mid: mid, ufrag: ufrag)
        case .localCandidatesEnded: self = .localCandidatesEnded(ufrag: ufrag())
        default: return nil
        }
    }
}

extension ConnectionSignal: QueuedEvent {
    package func outdates(_ old: ConnectionSignal) -> Bool {
        switch (old, self) {
        // A slow reader receives that it was connected, and the current state.
        case (.state(let old), .state(.connected)): old.hasConnected
        case (.restartNeeded, .state(let new)): new == .connected || new.isOver
        case (.state(let old), .state(let new)): old == new
        case (.restartNeeded, .restartNeeded), (.localCandidatesEnded, .localCandidatesEnded): true
        // A description that replaces another one has the candidates of both.
        case (.localCandidate(_, _, let old), .localCandidate(_, _, let new)),
            (.localCandidate(_, _, let old), .localCandidatesEnded(let new)),
            (.localCandidatesEnded(let old), .localCandidate(_, _, let new)):
            old != new
        default: false
        }
    }
}
