public import RTCShareWireFormat

/// ```
///                      first valid pair       answers stay away
///   new ──▶ checking ─────────────────▶ connected ⇄ disconnected
///              │ limit, or all pairs failed           │ consent expired, and no restart in time
///              └───────────────▶ failed ◀─────────────┘
/// ```
/// and `closed` from everywhere.
public enum AgentState: String, Hashable, Sendable {
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
public struct SelectedPair: Hashable, Sendable {
    /// The ``PairReport/id`` of the pair.
    public let id: Int
    /// Our candidate; media goes out from its base.
    public let local: Candidate
    /// The peer's candidate; media goes to its address.
    public let remote: Candidate
    /// Whether the controlling agent has chosen it; before that it is the best one that works.
    public let isNominated: Bool
}

/// What an agent tells its owner.
public enum AgentEvent: Hashable, Sendable {
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
public struct Transmit: Hashable, Sendable {
    /// The base to send from: the socket's own address, also where the transport is a stream.
    public let base: TransportAddress
    /// Where to.
    public let destination: TransportAddress
    /// What.
    public let bytes: [UInt8]
    /// How.
    public let transport: TransportProtocol

    /// Bytes from a base to a destination.
    public init(
        base: TransportAddress, destination: TransportAddress, bytes: [UInt8], transport: TransportProtocol = .udp
    ) {
        self.base = base
        self.destination = destination
        self.bytes = bytes
        self.transport = transport
    }
}

/// What the agent let fall, by reason.
public struct AgentStatistics: Hashable, Sendable {
    /// Datagrams that were no STUN message.
    public internal(set) var malformedMessages = 0
    /// Requests refused for a wrong user name or integrity.
    public internal(set) var unauthenticatedRequests = 0
    /// Authentic requests that were there before: sent again by the peer, or by somebody who caught them.
    public internal(set) var repeatedRequests = 0
    /// Responses without a request of ours, or with wrong integrity.
    public internal(set) var unexpectedResponses = 0
    /// Indications, requests of other methods than Binding, what came from where nothing may come from, and what relays
    /// let through that they should not.
    public internal(set) var ignoredMessages = 0
    /// Candidates of the peer that were of no use here.
    public internal(set) var remoteCandidatesIgnored = 0
    /// Names among the peer's candidates that nobody resolved.
    public internal(set) var remoteNamesUnresolved = 0
    /// Candidates, pairs, early checks and datagrams over a limit of ``Limits``.
    public internal(set) var overLimit = 0
}
