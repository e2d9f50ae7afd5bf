internal import RTCShareICE
internal import RTCShareSDP
internal import RTCShareWireFormat

/// ICE: the agent, the credentials that descriptions give it, and the candidates that either side was told.
struct ICESession {
    var agent: Agent
    /// The credentials that were agreed on, or stand in the first description.
    private(set) var local: ICEAttributes
    /// Those of an offer that restarts and was not answered yet.
    private(set) var offered: ICEAttributes?
    /// Whether the next offer is to restart.
    private var isRestartWanted = false
    /// Whether every server has answered or was given up.
    private(set) var isGatheringComplete = false
    /// Whether servers will be asked whose addresses are not known yet.
    private(set) var moreServersFollow = false
    /// The candidates that the peer was told, in the newest description and since.
    private var signaled: Set<CandidateAttribute> = []
    /// The `a=mid` of the section that holds the candidates; nil before there is a description.
    private(set) var mid: String?
    /// Whether the peer was told that there are no more.
    private var hasSignaledAll = false
    /// The peer's candidates that can't be checked yet.
    var pending: PendingCandidates

    init(
        as part: PeerConnection.Part, identity: LocalIdentity, configuration: PeerConnection.Configuration,
        random: any RandomNumberGenerator & Sendable
    ) throws(ICEError) {
        local = ICEAttributes(usernameFragment: identity.iceUsernameFragment, password: identity.icePassword)
        var agentConfiguration = RTCShareICE.Configuration(
            role: part == .offerer ? .controlling : .controlled, credentials: try Credentials(local))
        agentConfiguration.timing.connectivityLimit = configuration.connectTimeout
        if let wait = configuration.checkRetransmission { agentConfiguration.timing.checkRetransmission = wait...wait }
        agentConfiguration.timing.relayLifetime = configuration.relayLifetime
        agentConfiguration.iceTransportPolicy = configuration.iceTransportPolicy
        agentConfiguration.relaysHaveOwnPorts = configuration.relaysHaveOwnPorts
        agentConfiguration.timing.restartPatience = configuration.restartPatience
        agent = Agent(configuration: agentConfiguration, generator: random)
        pending = PendingCandidates(configuration)
    }

    // Our candidates.

    mutating func gather(servers: [ICEServerAddress], moreFollow: Bool, now: Instant) {
        isGatheringComplete = false
        moreServersFollow = moreFollow
        agent.gather(servers: servers, now: now)
    }

    /// Asks servers again, of whom nothing may be known by now.
    mutating func gatherAgain(now: Instant) {
        agent.gatherAgain(now: now)
        if agent.isGathering { isGatheringComplete = false }
    }

    mutating func noteGatheringComplete() {
        isGatheringComplete = true
    }

    /// Takes note of what a description told.
    mutating func note(_ description: SessionDescription, _ transport: TransportParameters) {
        guard let section = description.media.first(where: { $0.port != 0 }) else { return }
        mid = (try? section.mid()) ?? ""
        signaled = Set(transport.candidates)
        hasSignaledAll = transport.hasAllCandidates
    }

    /// Whether the peer has yet to be told of a candidate.
    mutating func shouldSignal(_ candidate: CandidateAttribute) -> Bool {
        mid != nil && signaled.insert(candidate).inserted
    }

    /// Whether the peer has yet to be told that there are no more.
    mutating func shouldSignalEnd() -> Bool {
        defer { if mid != nil { hasSignaledAll = true } }
        return mid != nil && !hasSignaledAll
    }

    // The peer's candidates.

    mutating func add(_ candidate: CandidateAttribute, at ip: IPAddress, now: Instant) {
        agent.addRemoteCandidate(
            foundation: candidate.foundation, component: Int(candidate.component), transport: candidate.transport,
            priority: candidate.priority, address: TransportAddress(ip: ip, port: candidate.port),
            type: candidate.kind.description, tcpType: candidate.tcpType, now: now)
    }

    /// Takes note of a name among the peer's candidates. One that is not asked for may still come forward by itself.
    mutating func note(name: String) {
        if !pending.note(name) { agent.noteUnresolvedRemoteName() }
    }

    /// No candidate of the peer will follow. One whose name has found no address may still come forward by itself.
    mutating func endRemoteCandidates(now: Instant) {
        for _ in 0..<pending.takeUnresolved() { agent.noteUnresolvedRemoteName() }
        agent.endOfRemoteCandidates(now: now)
    }

    // Restarts (RFC 8839 §4.4.1.1.1).

    /// Has the next offer restart.
    mutating func wantRestart() {
        isRestartWanted = true
    }

    /// Draws the credentials of the next offer, where it is to restart and none are drawn yet.
    mutating func offerRestart(random: inout some RandomNumberGenerator) {
        guard isRestartWanted, offered == nil else { return }
        let drawn = Credentials.random(using: &random)
        offered = ICEAttributes(drawn)
        agent.offerRestart(credentials: drawn)
    }

    /// Takes back an offer that restarts and was not answered.
    mutating func withdrawOffer() {
        guard offered != nil else { return }
        offered = nil
        agent.withdrawRestart()
    }

    /// Whether an offer of this side is the one that restarts.
    func isRestarting(_ offer: SessionDescription) throws(PeerConnectionError) -> Bool {
        guard let section = offer.media.first(where: { $0.port != 0 }),
            let credentials = try? offer.iceAttributes(of: section), credentials != local
        else { return false }
        guard credentials == offered else { throw .staleOffer }
        return true
    }

    /// Begins the new generation: all that can fail has come before, but for the peer's credentials.
    mutating func restart(
        _ own: ICEAttributes, with session: NegotiatedSession, after former: NegotiatedSession, now: Instant
    ) throws(ICEError) {
        let (theirs, ours) = (try Credentials(session.remoteICE), try Credentials(own))
        pending.restart(former: former.remoteICE.usernameFragment)
        local = own
        agent.restart(credentials: ours, now: now)
        if agent.isGathering { isGatheringComplete = false }
        agent.setRemote(credentials: theirs, isLite: session.remoteIsICELite, now: now)
    }

    /// After a description was taken: what became of a restart that this side wanted or offered.
    mutating func settleOffer(isOwnOffer: Bool, hasRestarted: Bool, wasRestart: Bool) {
        if hasRestarted { isRestartWanted = false }
        guard !isOwnOffer || wasRestart else { return }
        offered = nil
        // With the restart itself the agent has done so.
        agent.withdrawRestart()
    }
}

extension Credentials {
    init(_ attributes: ICEAttributes) throws(ICEError) {
        try self.init(usernameFragment: attributes.usernameFragment, password: attributes.password)
    }
}

extension ICEAttributes {
    init(_ credentials: Credentials) {
        self.init(usernameFragment: credentials.usernameFragment, password: credentials.password)
    }
}
