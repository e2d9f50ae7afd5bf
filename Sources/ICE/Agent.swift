import RTCShareSTUN
package import RTCShareWireFormat

/// A full ICE agent for one component (RFC 8445) with trickled candidates (RFC 8838) and consent (RFC 7675).
///
/// The agent does no input or output: datagrams and the time go in through ``handle(datagram:from:to:over:now:)`` and
/// ``handleTimeout(now:)``, and after each call ``pollTransmit()`` and ``pollEvent()`` are asked until they have no
/// more. ``nextDeadline`` says when the time is wanted next.
///
/// Three kinds of bases send and receive: sockets, relayed addresses at TURN servers (RFC 8656), and the near ends of
/// TCP connections that are opened to the peer (RFC 6544). Checks, consent and media go over all of them alike.
package struct Agent: Sendable {
    /// Where the agent stands.
    package internal(set) var state = AgentState.new
    /// Which agent nominates; a conflict can change it.
    package internal(set) var role: Role
    /// The peer's credentials, once ``setRemote(credentials:isLite:now:)`` has said them.
    package var remoteCredentials: Credentials? { credentials.remote }
    /// Our candidates, those included that only the peer sees.
    package var localCandidates: [Candidate] { locals.candidates }
    /// The peer's candidates, those included that only we see.
    package var remoteCandidates: [Candidate] { remotes.candidates }
    /// What was let fall.
    package internal(set) var statistics = AgentStatistics()
    /// When ``handleTimeout(now:)`` is wanted; nil where only a datagram can change anything.
    package internal(set) var nextDeadline: Instant?

    /// The addresses of the sockets.
    package var hosts: [TransportAddress] { locals.hosts }

    /// Whether the agent's end leaves the addresses of ``relayStates(now:)`` with their servers for another agent, instead of
    /// giving them back.
    package var keepsRelays = false

    /// The fragments by which the peer's requests may name us: those of this generation, of the one that we have offered,
    /// and of the one that a restart is replacing.
    package var localFragments: [String] { credentials.localFragments }

    /// Our credentials, for the description that goes to the peer.
    package var localCredentials: Credentials { credentials.local }

    let configuration: Configuration
    var timing: Timing { configuration.timing }
    var limits: Limits { configuration.limits }
    var generator: any RandomNumberGenerator & Sendable
    var tieBreaker: UInt64

    /// Ours and the peer's, of each generation.
    var credentials: AgentCredentials
    /// Where we send from, and what the peer knows of it.
    var locals = LocalCandidates()
    /// Where the peer may be.
    var remotes = RemoteCandidates()
    /// The servers that say how we look from outside, and relay.
    var asked = ServerRequests()
    /// The pairs of both, and which is checked, nominated and selected.
    var checklist = Checklist()
    /// Our requests under way.
    var transactions = Transactions()
    /// The peer's requests.
    var incoming: IncomingChecks
    /// When the peer is asked whether it still consents.
    var consent = ConsentTimer()

    /// Whether servers were asked again for the next generation.
    var isGatheredAgain = false
    /// Whether the newest generation has selected no pair yet, and another one has.
    var isRestarting = false
    var outage: Outage?
    /// Where media goes; kept, as it is asked for with every packet.
    var path: MediaPath?
    var transmits: [Transmit] = []
    private var events: [AgentEvent] = []

    /// An agent that knows no candidate yet. `generator` must be cryptographically strong: transaction identifiers and
    /// the tie-breaker come from it.
    package init(configuration: Configuration, generator: any RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        credentials = AgentCredentials(local: configuration.credentials)
        role = configuration.role
        incoming = IncomingChecks(limits: configuration.limits)
        tieBreaker = self.generator.next()
    }

    /// Says who the peer is: checks begin. Requests that came before are acted on now.
    ///
    /// A lite peer only answers, so that we are the controlling agent (RFC 8445 §6.1.1). Credentials that are set once
    /// stay until ``restart(credentials:now:)``; a second call does nothing.
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

    /// Tells the agent that time has passed; early calls are harmless.
    package mutating func handleTimeout(now: Instant) {
        advance(now: now)
    }

    /// Takes in a datagram, or a whole message of a stream, that arrived at the socket `local` or over a stream from its
    /// interface; what relays wrap is unwrapped. Application data is let fall: who carries any calls
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

    /// Takes in a STUN message that came to a base, as ``unwrap(_:from:to:over:now:)`` named it. False where it was not
    /// for us to act on, as what strangers send: nothing but ``statistics`` has changed then, and maybe there is a
    /// refusal to send.
    @discardableResult
    package mutating func handle(
        message bytes: RawSpan, from source: TransportAddress, to local: TransportAddress, now: Instant
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
        // Strangers' messages are many, and what is due is not theirs to hasten.
        if isTaken { advance(now: now) }
        return isTaken
    }

    /// The next thing that happened.
    package mutating func pollEvent() -> AgentEvent? {
        events.takeFirst()
    }

    /// Ends the agent: relayed addresses are given back, and nothing more is sent or answered.
    package mutating func close(now: Instant) {
        guard state != .closed else { return }
        stop(.closed, now: now)
    }

    var isActive: Bool { state != .failed && state != .closed }

    /// Does all that is due. Every input ends here, so that ``nextDeadline`` is right after each.
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
