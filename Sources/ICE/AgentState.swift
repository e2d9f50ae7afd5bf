package import RTCShareWireFormat

/// ```
///                      first valid pair       answers stay away
///   new ──▶ checking ─────────────────▶ connected ⇄ disconnected
///              │ limit, or all pairs failed           │ consent expired, and no restart in time
///              └───────────────▶ failed ◀─────────────┘
/// ```
/// and `closed` from everywhere.
package enum AgentState: String, Hashable, Sendable {
    /// The peer's credentials are not known.
    case new
    /// Checks are under way.
    case checking
    /// There is a pair to send on.
    case connected
    /// The selected pair has stopped answering; sending is still allowed until consent expires. Or there is none any
    /// more, and a restart is waited for.
    case disconnected
    /// No pair works, or consent has expired: nothing may be sent.
    case failed
    /// The owner ended it.
    case closed
}

/// The pair to send on.
package struct SelectedPair: Hashable, Sendable {
    /// The ``PairReport/id`` of the pair.
    package let id: Int
    /// Our candidate; media goes out from its base.
    package let local: Candidate
    /// The peer's candidate; media goes to its address.
    package let remote: Candidate
    /// Whether the controlling agent has chosen it; before that it is the best one that works.
    package let isNominated: Bool
}

/// What an agent tells its owner.
package enum AgentEvent: Hashable, Sendable {
    /// The state changed.
    case stateChanged(AgentState)
    /// Media goes over this pair from now on.
    case selectedPair(SelectedPair)
    /// A candidate for the peer.
    case candidateGathered(Candidate)
    /// No more candidates will come.
    case gatheringComplete
    /// There is no pair to send on any more: the peer's consent has expired, or the socket is gone. A restart can find
    /// one. Told once until there is a pair again.
    case restartNeeded
    /// A conflict changed our role (RFC 8445 §7.3.1.1).
    case roleChanged(Role)
    /// A STUN or TURN server gave nothing, or gives nothing any longer.
    case serverFailed(ServerFailure)
}

/// Something to send.
///
/// Over a stream the owner opens one connection for each `base`, `destination` and `transport` when the first transmit
/// names them, from the base's address and any port. `bytes` are framed for it; ``Agent/framing(of:over:)`` says how what
/// comes back is to be taken apart.
package struct Transmit: Hashable, Sendable {
    /// The base to send from: the socket's own address, also where the transport is a stream.
    package let base: TransportAddress
    /// Where to.
    package let destination: TransportAddress
    /// What.
    package let bytes: [UInt8]
    /// How.
    package let transport: TransportProtocol
    /// Whether it belongs to an allocation at a TURN server: where bases are shared, that has a port of its own.
    package let isForRelay: Bool

    /// Bytes from a base to a destination.
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

/// What the agent let fall, by reason.
package struct AgentStatistics: Hashable, Sendable {
    /// Datagrams that were no STUN message.
    package internal(set) var malformedMessages = 0
    /// Requests refused for a wrong user name or integrity.
    package internal(set) var unauthenticatedRequests = 0
    /// Authentic requests that were there before: sent again by the peer, or by somebody who caught them.
    package internal(set) var repeatedRequests = 0
    /// Responses without a request of ours, or with wrong integrity.
    package internal(set) var unexpectedResponses = 0
    /// Indications, requests of other methods than Binding, what came from where nothing may come from, and what relays
    /// let through that they should not.
    package internal(set) var ignoredMessages = 0
    /// Candidates of the peer that were of no use here.
    package internal(set) var remoteCandidatesIgnored = 0
    /// Names among the peer's candidates that nobody resolved.
    package internal(set) var remoteNamesUnresolved = 0
    /// Candidates, pairs, early checks and datagrams over a limit of ``Limits``.
    package internal(set) var overLimit = 0
}
