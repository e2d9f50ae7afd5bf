package import RTCShareWireFormat

/// ```
///                      first valid pair       checks unanswered
///   new ──▶ checking ─────────────────▶ connected ⇄ disconnected
///              │ limit, or all pairs failed           │ consent expired, and no restart in time
///              └───────────────▶ failed ◀─────────────┘
/// ```
/// and `closed` from every state.
package enum AgentState: String, Hashable, Sendable {
    /// The agent does not know the peer's credentials.
    case new
    /// Checks are in progress.
    case checking
    /// A pair can carry media.
    case connected
    /// The selected pair has stopped answering, and can carry media until consent expires. Or there is no pair any
    /// more, and the agent waits for a restart.
    case disconnected
    /// No pair works, or consent has expired: the agent must not send.
    case failed
    /// The owner has closed the agent.
    case closed
}

/// The selected pair, which carries media.
package struct SelectedPair: Hashable, Sendable {
    /// The ``PairReport/id`` of the pair.
    package let id: Int
    /// Our candidate. Media is sent from its base.
    package let local: Candidate
    /// The peer's candidate. Media is sent to its address.
    package let remote: Candidate
    /// Whether the controlling agent has nominated the pair. Otherwise it is the best working pair so far.
    package let isNominated: Bool
}

/// An event for the agent's owner.
package enum AgentEvent: Hashable, Sendable {
    /// The state changed.
    case stateChanged(AgentState)
    /// Another pair carries media.
    case selectedPair(SelectedPair)
    /// A new local candidate for the peer.
    case candidateGathered(Candidate)
    /// The gathering of candidates is complete.
    case gatheringComplete
    /// There is no pair left to send on: the peer's consent has expired, or the socket is closed. A restart can find
    /// one. The event occurs once per outage.
    case restartNeeded
    /// A conflict changed our role (RFC 8445 §7.3.1.1).
    case roleChanged(Role)
    /// A STUN or TURN server has failed.
    case serverFailed(ServerFailure)
}

/// A datagram or a message to send.
///
/// Over a stream the owner opens one connection for each `base`, `destination` and `transport` at the first transmit
/// with them, from the base's address and any port, unless the base accepts connections. `bytes` are already framed.
/// ``Agent/framing(of:from:over:)`` returns the framing of the received bytes.
package struct Transmit: Hashable, Sendable {
    /// The address to send from: that of a socket or a listener; with port 0, that of the connections that we open to
    /// the peer.
    package let base: TransportAddress
    /// The destination address.
    package let destination: TransportAddress
    /// The bytes to send.
    package let bytes: [UInt8]
    /// The transport protocol.
    package let transport: TransportProtocol
    /// Whether the transmit belongs to an allocation at a TURN server, which has its own port if agents share bases.
    package let isForRelay: Bool

    package init(
        base: TransportAddress, destination: TransportAddress, bytes: [UInt8], transport: TransportProtocol = .udp,
        isForRelay: Bool = false
    ) {
        self.base = base
        self.destination = destination
        self.bytes = bytes
        self.transport = transport
        self.isForRelay = isForRelay
    }
}

/// Counts of ignored input, by reason.
package struct AgentStatistics: Hashable, Sendable {
    /// The number of datagrams that were not STUN messages.
    package internal(set) var malformedMessages = 0
    /// The number of requests that were rejected because of a wrong user name or wrong integrity.
    package internal(set) var unauthenticatedRequests = 0
    /// The number of repeated authentic requests: retransmissions by the peer, or replays by an attacker.
    package internal(set) var repeatedRequests = 0
    /// The number of responses without a request of ours, or with wrong integrity.
    package internal(set) var unexpectedResponses = 0
    /// The number of indications, of requests with other methods than Binding, and of messages that a route does not
    /// allow, such as those that a relay should not have forwarded.
    package internal(set) var ignoredMessages = 0
    /// The number of the peer's candidates that this agent cannot use.
    package internal(set) var remoteCandidatesIgnored = 0
    /// The number of the peer's candidates whose name was not resolved.
    package internal(set) var remoteNamesUnresolved = 0
    /// The number of candidates, pairs, early checks and datagrams that exceeded ``Limits``.
    package internal(set) var overLimit = 0
}
