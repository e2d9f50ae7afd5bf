import RTCShareSTUN
package import RTCShareWireFormat

/// A full ICE agent for one component (RFC 8445) with trickled candidates (RFC 8838) and consent (RFC 7675).
///
/// The agent does no input or output. Its owner passes datagrams and the time to ``handle(datagram:from:to:over:now:)``
/// and ``handleTimeout(now:)``, and after each call drains ``pollTransmit()`` and ``pollEvent()``. ``nextDeadline`` is
/// the time of the next timeout.
///
/// Three kinds of bases send and receive: sockets, relayed addresses at TURN servers (RFC 8656), and the local ends of
/// TCP connections to the peer (RFC 6544). All of them carry checks, consent and media.
package struct Agent: Sendable {
    /// The state of the agent.
    package internal(set) var state = AgentState.new
    /// The role: the controlling agent nominates. A conflict can change it.
    package internal(set) var role: Role
    /// The peer's credentials, after ``setRemote(credentials:isLite:now:)``.
    package var remoteCredentials: Credentials? { credentials.remote }
    /// Our candidates, including peer-reflexive ones.
    package var localCandidates: [Candidate] { locals.candidates }
    /// The peer's candidates, including peer-reflexive ones.
    package var remoteCandidates: [Candidate] { remotes.candidates }
    /// Counts of ignored input.
    package internal(set) var statistics = AgentStatistics()
    /// The time of the next ``handleTimeout(now:)``; nil if only a datagram can change the state.
    package internal(set) var nextDeadline: Instant?

    /// The addresses of the sockets.
    package var hosts: [TransportAddress] { locals.hosts }

    /// Whether an agent that ends leaves the addresses of ``relayStates(now:)`` at their servers for another agent,
    /// instead of releasing them.
    package var keepsRelays = false

    /// The user name fragments that the peer's requests can use for us: those of this generation, of the offered one,
    /// and of the one that a restart is replacing.
    package var localFragments: [String] { credentials.localFragments }

    /// Our credentials, for the description that the peer receives.
    package var localCredentials: Credentials { credentials.local }

    let configuration: Configuration
    var timing: Timing { configuration.timing }
    var limits: Limits { configuration.limits }
    var generator: any RandomNumberGenerator & Sendable
    var tieBreaker: UInt64

    /// Our credentials and the peer's, of each generation.
    var credentials: AgentCredentials
    /// Our bases and candidates.
    var locals = LocalCandidates()
    /// The peer's candidates.
    var remotes = RemoteCandidates()
    /// The STUN and TURN servers and their results.
    var asked = ServerRequests()
    /// The candidate pairs, with their checks, nomination and selection.
    var checklist = Checklist()
    /// The pending requests of ours.
    var transactions = Transactions()
    /// The peer's requests.
    var incoming: IncomingChecks
    /// The times of consent checks.
    var consent = ConsentTimer()

    /// Whether servers received new requests for the next generation.
    var isGatheredAgain = false
    /// Whether a pair of a former generation is selected because the newest has none yet.
    var isRestarting = false
    var outage: Outage?
    /// The route of media, cached because every packet needs it.
    var path: MediaPath?
    var transmits: [Transmit] = []
    private var events: [AgentEvent] = []

    /// Creates an agent without candidates. `generator` must be cryptographically strong: transaction identifiers and
    /// the tie-breaker come from it.
    package init(configuration: Configuration, generator: any RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        credentials = AgentCredentials(local: configuration.credentials)
        role = configuration.role
        incoming = IncomingChecks(limits: configuration.limits)
        tieBreaker = self.generator.next()
    }

    /// Sets the peer's credentials and starts checks. Requests that arrived before are processed now.
    ///
    /// A lite peer only answers, so that we are the controlling agent (RFC 8445 §6.1.1). The credentials stay until
    /// ``restart(credentials:now:)``, and a second call has no effect.
    package mutating func setRemote(credentials: Credentials, isLite: Bool = false, now: Instant) {
        guard remoteCredentials == nil, isActive else { return }
        self.credentials.setRemote(credentials)
        if isLite, role == .controlled { switchRole() }
        checklist.begin(now: now)
        if checklist.selected == nil { setState(.checking) }
        for check in incoming.takeEarly() where check.remoteFragment == credentials.usernameFragment {
            process(check, now: now)
        }
        advance(now: now)
    }

    /// Does everything that is due at `now`. Early calls are harmless.
    package mutating func handleTimeout(now: Instant) {
        advance(now: now)
    }

    /// Processes a datagram that arrived at the socket `local`, or a whole message of a stream from `local`, as in
    /// ``Transmit/base``. Messages from relays are unwrapped. Application data is ignored: callers that receive any use
    /// ``unwrap(_:from:to:over:now:)`` and ``handle(message:from:to:now:)`` instead.
    package mutating func handle(
        datagram: RawSpan, from source: TransportAddress, to local: TransportAddress,
        over transport: TransportProtocol = .udp, now: Instant
    ) {
        guard
            case .message(let source, let base, let range) = unwrap(
                datagram, from: source, to: local, over: transport, now: now)
        else { return }
        handle(message: datagram.extracting(range), from: source, to: base, now: now)
    }

    /// Processes a STUN message that arrived at a base, as ``unwrap(_:from:to:over:now:)`` returned it. Returns false
    /// for a message that does not concern this agent, for example from a stranger. Such a message changes only
    /// ``statistics``, and can cause an error response.
    @discardableResult
    package mutating func handle(
        message bytes: RawSpan, from source: TransportAddress, to local: BaseAddress, now: Instant
    ) -> Bool {
        guard isActive else { return false }
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: bytes)
        } catch {
            statistics.malformedMessages += 1
            return false
        }
        guard message.method == .binding, let base = locals.base(at: local) else {
            statistics.ignoredMessages += 1
            return false
        }
        let isTaken: Bool
        switch message.messageClass {
        case .request:
            isTaken = handleRequest(message, byteCount: bytes.byteCount, from: source, to: base, now: now)
        case .successResponse, .errorResponse:
            isTaken = handleResponse(message, from: source, to: base, now: now)
        case .indication:
            statistics.ignoredMessages += 1
            isTaken = false
        }
        // Strangers can send many messages, which must not advance the agent.
        if isTaken { advance(now: now) }
        return isTaken
    }

    /// Returns the next event.
    package mutating func pollEvent() -> AgentEvent? {
        events.takeFirst()
    }

    /// Ends the agent. It releases relayed addresses, and then sends and answers no more.
    package mutating func close(now: Instant) {
        guard state != .closed else { return }
        stop(.closed, now: now)
    }

    var isActive: Bool { state != .failed && state != .closed }

    /// Does everything that is due. Every input ends with this call, so that ``nextDeadline`` is correct afterward.
    mutating func advance(now: Instant) {
        guard isActive else { return }
        expireTransactions(now: now)
        advanceRelays(now: now)
        advanceGathering(now: now)
        reselect(now: now)
        considerMove(now: now)
        considerNomination(now: now)
        sendNextCheck(now: now)
        advanceConsent(now: now)
        settleRestart(now: now)
        concludeFailure(now: now)
        updatePath()
        nextDeadline = isActive ? earliestDeadline(after: now) : nil
    }

    private func earliestDeadline(after now: Instant) -> Instant? {
        var deadlines = transactions.deadlines
        deadlines.append(contentsOf: asked.deadlines)
        let limits = [nominationDeadline, consentDeadline, outageDeadline]
        deadlines.append(contentsOf: limits.compactMap { $0 })
        if state == .checking, let checkingSince = checklist.checkingSince {
            deadlines.append(checkingSince.advanced(by: timing.connectivityLimit))
            let patience = checkingSince.advanced(by: timing.connectivityLimit / 2)
            if patience > now { deadlines.append(patience) }
        }
        if hasCheckToSend, let opens = checklist.paceOpens { deadlines.append(opens) }
        return deadlines.min()
    }

    mutating func emit(_ event: AgentEvent) {
        events.append(event)
    }

    mutating func setState(_ new: AgentState) {
        guard state != new else { return }
        state = new
        emit(.stateChanged(new))
    }

    mutating func stop(_ final: AgentState, now: Instant) {
        transactions.removeAll()
        incoming.forgetEarly()
        nextDeadline = nil
        checklist.stop()
        path = nil
        transmits = []
        releaseRelays(now: now)
        setState(final)
    }
}
