import STUN
public import WireFormat

/// A full ICE agent for one component (RFC 8445) with trickled candidates (RFC 8838) and consent (RFC 7675).
///
/// The agent does no input or output: datagrams and the time go in through ``handle(datagram:from:to:now:)`` and
/// ``handleTimeout(now:)``, and after each call ``pollTransmit()`` and ``pollEvent()`` are asked until they have no
/// more. ``nextDeadline`` says when the time is wanted next.
public struct Agent: Sendable {
    /// Where the agent stands.
    public internal(set) var state = AgentState.new
    /// Which agent nominates; a conflict can change it.
    public internal(set) var role: Role
    /// The peer's credentials, once ``setRemote(credentials:isLite:now:)`` has said them.
    public internal(set) var remoteCredentials: Credentials?
    /// Our candidates, those included that only the peer sees.
    public internal(set) var localCandidates: [Candidate] = []
    /// The peer's candidates, those included that only we see.
    public internal(set) var remoteCandidates: [Candidate] = []
    /// What was let fall.
    public internal(set) var statistics = AgentStatistics()
    /// When ``handleTimeout(now:)`` is wanted; nil where only a datagram can change anything.
    public internal(set) var nextDeadline: Instant?

    /// Our credentials, for the description that goes to the peer.
    public var localCredentials: Credentials { configuration.credentials }

    let configuration: Configuration
    var timing: Timing { configuration.timing }
    var limits: Limits { configuration.limits }
    var generator: any RandomNumberGenerator & Sendable
    var tieBreaker: UInt64

    var bases: [Base] = []
    var foundations: [FoundationKey: Int] = [:]
    var pairs: [CandidatePair] = []
    var nextPairID = 0
    var transactions: [TransactionID: Transaction] = [:]
    var triggered: [TriggeredCheck] = []
    var earlyChecks: [EarlyCheck] = []
    var paceOpens: Instant?

    var gathers: [Gather] = []
    var gatheringLimit: Instant?

    var remoteCandidatesEnded = false
    var remoteReflexiveCount = 0
    var checkingSince: Instant?
    var firstValid: Instant?
    /// The pair whose nominating check is queued or under way.
    var nominating: Int?
    var selected: Int?
    var consentDue: Instant?
    /// Consent checks since the last answer.
    var consentUnanswered = 0

    private var transmits: [Transmit] = []
    private var events: [AgentEvent] = []

    /// A base: the local address of a socket.
    struct Base: Sendable {
        let address: TransportAddress
        let localPreference: UInt16
    }

    /// What makes two candidates share a foundation (RFC 8445 §5.1.1.3).
    struct FoundationKey: Hashable, Sendable {
        let type: CandidateType
        let base: IPAddress
        let server: IPAddress?
    }

    /// An entry of the triggered-check queue (RFC 8445 §6.1.4.1), nominations included.
    struct TriggeredCheck: Sendable {
        let pair: Int
        let nominates: Bool
    }

    /// An authentic request that came before the peer's credentials.
    struct EarlyCheck: Sendable {
        let source: TransportAddress
        let base: TransportAddress
        let remoteFragment: String
        let priority: UInt32
        let nominates: Bool
    }

    /// A base that asks a STUN server what it looks like from outside.
    struct Gather: Sendable {
        let base: TransportAddress
        let server: TransportAddress
        var isDone = false
        /// When the binding is next kept alive, if there is one.
        var keepalive: Instant?
    }

    /// An agent that knows no candidate yet. `generator` must be cryptographically strong: transaction identifiers and
    /// the tie-breaker come from it.
    public init(configuration: Configuration, generator: any RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        role = configuration.role
        tieBreaker = self.generator.next()
    }

    /// Says who the peer is: checks begin. Requests that came before are acted on now.
    ///
    /// A lite peer only answers, so that we are the controlling agent (RFC 8445 §6.1.1). Credentials that are set once
    /// stay; a second call does nothing.
    public mutating func setRemote(credentials: Credentials, isLite: Bool = false, now: Instant) {
        guard remoteCredentials == nil, isActive else { return }
        remoteCredentials = credentials
        if isLite, role == .controlled { switchRole() }
        checkingSince = now
        setState(.checking)
        let early = earlyChecks
        earlyChecks = []
        for check in early where check.remoteFragment == credentials.usernameFragment {
            process(check, now: now)
        }
        advance(now: now)
    }

    /// Tells the agent that time has passed; early calls are harmless.
    public mutating func handleTimeout(now: Instant) {
        advance(now: now)
    }

    /// Takes in a datagram that ``STUNMessage/isSTUN(_:)`` recognised; `local` is the base it arrived at.
    public mutating func handle(
        datagram: RawSpan, from source: TransportAddress, to local: TransportAddress, now: Instant
    ) {
        guard isActive else { return }
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: datagram)
        } catch {
            statistics.malformedMessages += 1
            return
        }
        guard message.method == .binding, let base = bases.first(where: { $0.address == local }) else {
            statistics.ignoredMessages += 1
            return
        }
        switch message.messageClass {
        case .request: handleRequest(message, from: source, to: base, now: now)
        case .successResponse, .errorResponse: handleResponse(message, from: source, to: base, now: now)
        case .indication: statistics.ignoredMessages += 1
        }
        advance(now: now)
    }

    /// Says that the system could not send from `base` to `destination`, as where there is no route: the pair fails,
    /// a STUN server is given up.
    public mutating func transmitFailed(base: TransportAddress, destination: TransportAddress, now: Instant) {
        for transaction in transactions.values
        where transaction.base == base && transaction.destination == destination {
            if case .gather(let order) = transaction.purpose { gathers[order].isDone = true }
            // Consent runs out by itself: a route can come back.
            if case .consent = transaction.purpose { continue }
            transactions[transaction.id] = nil
        }
        if let index = pairIndex(base: base, remote: destination), pairs[index].id != selected {
            fail(index, as: .unreachable)
        }
        advance(now: now)
    }

    /// The next datagram to send.
    public mutating func pollTransmit() -> Transmit? {
        transmits.isEmpty ? nil : transmits.removeFirst()
    }

    /// The next thing that happened.
    public mutating func pollEvent() -> AgentEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Ends the agent: nothing is sent or answered any more.
    public mutating func close() {
        guard state != .closed else { return }
        stop(.closed)
    }

    /// The pair to send media on, in the states connected and disconnected.
    public var selectedPair: SelectedPair? {
        guard let selected, let index = pairIndex(selected) else { return nil }
        let pair = pairs[index]
        return SelectedPair(id: pair.id, local: pair.local, remote: pair.remote, isNominated: pair.isNominated)
    }

    /// The newest round trip on the selected pair; nil before one was measured.
    public var selectedRoundTripTime: Duration? {
        selected.flatMap(pairIndex).flatMap { pairs[$0].statistics.currentRoundTripTime }
    }

    /// Every pair with its fate, best first.
    public func pairReports() -> [PairReport] {
        pairs.sorted { $0.priority > $1.priority }.map { pair in
            PairReport(
                id: pair.id, local: pair.local, remote: pair.remote, state: pair.state, nominated: pair.isNominated,
                priority: pair.priority, fate: pair.fate, statistics: pair.statistics)
        }
    }

    var isActive: Bool { state != .failed && state != .closed }

    /// Does all that is due. Every input ends here, so that ``nextDeadline`` is right after each.
    mutating func advance(now: Instant) {
        guard isActive else { return }
        expireTransactions(now: now)
        advanceGathering(now: now)
        reselect(now: now)
        considerNomination(now: now)
        sendNextCheck(now: now)
        advanceConsent(now: now)
        concludeFailure(now: now)
        nextDeadline = isActive ? earliestDeadline(after: now) : nil
    }

    private func earliestDeadline(after now: Instant) -> Instant? {
        var deadlines = transactions.values.map(\.due)
        deadlines.append(contentsOf: gathers.compactMap(\.keepalive))
        deadlines.append(contentsOf: [gatheringLimit, nominationDeadline, consentDeadline].compactMap { $0 })
        if state == .checking, let checkingSince {
            deadlines.append(checkingSince.advanced(by: timing.connectivityLimit))
            let patience = checkingSince.advanced(by: timing.connectivityLimit / 2)
            if patience > now { deadlines.append(patience) }
        }
        if hasCheckToSend, let paceOpens { deadlines.append(paceOpens) }
        return deadlines.min()
    }

    mutating func send(_ bytes: [UInt8], from base: TransportAddress, to destination: TransportAddress) {
        guard transmits.count < limits.transmits else {
            statistics.overLimit += 1
            return
        }
        transmits.append(Transmit(base: base, destination: destination, bytes: bytes))
    }

    mutating func emit(_ event: AgentEvent) {
        events.append(event)
    }

    mutating func setState(_ new: AgentState) {
        guard state != new else { return }
        state = new
        emit(.stateChanged(new))
    }

    mutating func stop(_ final: AgentState) {
        transactions = [:]
        triggered = []
        earlyChecks = []
        gathers = []
        nextDeadline = nil
        selected = nil
        transmits = []
        setState(final)
    }
}
