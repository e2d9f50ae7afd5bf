internal import RTCShareICE
internal import RTCShareSDP
internal import RTCShareWireFormat

/// The ICE state: the agent, the credentials in descriptions, and the candidates that were exchanged.
struct ICESession {
    var agent: Agent
    /// The negotiated credentials, or those of the first description.
    private(set) var local: ICEAttributes
    /// The credentials of an unanswered offer that restarts ICE.
    private(set) var offered: ICEAttributes?
    /// Whether the next offer should restart ICE.
    private var isRestartWanted = false
    /// Whether every server has answered or timed out.
    private(set) var isGatheringComplete = false
    /// Whether further servers will be used whose addresses are not known yet.
    private(set) var moreServersFollow = false
    /// The candidates that the peer received, in the latest description and since.
    private var signaled: Set<CandidateAttribute> = []
    /// The `a=mid` of the section with the candidates; nil before there is a description.
    private(set) var mid: String?
    /// Whether the peer received the end of candidates.
    private var hasSignaledAll = false
    /// The peer's candidates that can't be checked yet.
    var pending: PendingCandidates
    /// The prefix of the network's translation of IPv4 addresses. Nil if there is none, or this machine has IPv4.
    var translation: NAT64Prefix?

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

    // Local candidates.

    mutating func gather(servers: [ICEServerAddress], moreFollow: Bool, now: Instant) {
        isGatheringComplete = false
        moreServersFollow = moreFollow
        agent.gather(servers: servers, now: now)
    }

    /// Sends new requests to servers, whose earlier results can be obsolete.
    mutating func gatherAgain(now: Instant) {
        agent.gatherAgain(now: now)
        if agent.isGathering { isGatheringComplete = false }
    }

    mutating func noteGatheringComplete() {
        isGatheringComplete = true
    }

    /// Records the candidates in a description of this side.
    mutating func note(_ description: SessionDescription, _ transport: TransportParameters) {
        guard let section = description.media.first(where: { $0.port != 0 }) else { return }
        mid = (try? section.mid()) ?? ""
        signaled = Set(transport.candidates)
        hasSignaledAll = transport.hasAllCandidates
    }

    /// Whether the peer must receive a candidate. This records it as sent.
    mutating func shouldSignal(_ candidate: CandidateAttribute) -> Bool {
        mid != nil && signaled.insert(candidate).inserted
    }

    /// Whether the peer must receive the end of candidates. This records it as sent.
    mutating func shouldSignalEnd() -> Bool {
        defer { if mid != nil { hasSignaledAll = true } }
        return mid != nil && !hasSignaledAll
    }

    // Remote candidates.

    /// Adds a candidate with its address. One with an IPv4 address is also added with the address that the network
    /// translates to it: a relay of ours can reach the first, and this machine the second.
    mutating func add(_ candidate: CandidateAttribute, at ip: IPAddress, now: Instant) {
        for ip in [ip, translation?.translate(ip)].compactMap({ $0 }) {
            agent.addRemoteCandidate(
                foundation: candidate.foundation, component: Int(candidate.component), transport: candidate.transport,
                priority: candidate.priority, address: TransportAddress(ip: ip, port: candidate.port),
                type: candidate.kind.description, tcpType: candidate.tcpType, now: now)
        }
    }

    /// Records a name among the peer's candidates. If it is not resolved, the peer can still send checks itself.
    mutating func note(name: String) {
        if !pending.note(name) { agent.noteUnresolvedRemoteName() }
    }

    /// Records the end of the peer's candidates. A candidate whose name has no address can still send checks itself.
    mutating func endRemoteCandidates(now: Instant) {
        for _ in 0..<pending.takeUnresolved() { agent.noteUnresolvedRemoteName() }
        agent.endOfRemoteCandidates(now: now)
    }

    // Restarts (RFC 8839 §4.4.1.1.1).

    /// Requests an ICE restart in the next offer.
    mutating func wantRestart() {
        isRestartWanted = true
    }

    /// Creates the credentials of the next offer if it should restart ICE and has none yet.
    mutating func offerRestart(random: inout some RandomNumberGenerator) {
        guard isRestartWanted, offered == nil else { return }
        let drawn = Credentials.random(using: &random)
        offered = ICEAttributes(drawn)
        agent.offerRestart(credentials: drawn)
    }

    /// Withdraws an unanswered offer that restarts ICE.
    mutating func withdrawOffer() {
        guard offered != nil else { return }
        offered = nil
        agent.withdrawRestart()
    }

    /// Whether an offer of this side restarts ICE.
    func isRestarting(_ offer: SessionDescription) throws(PeerConnectionError) -> Bool {
        guard let section = offer.media.first(where: { $0.port != 0 }),
            let credentials = try? offer.iceAttributes(of: section), credentials != local
        else { return false }
        guard credentials == offered else { throw .staleOffer }
        return true
    }

    /// Starts the new generation. All checks were done before, except that of the peer's credentials.
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

    /// Updates a requested or offered restart after a description was applied.
    mutating func settleOffer(isOwnOffer: Bool, hasRestarted: Bool, wasRestart: Bool) {
        if hasRestarted { isRestartWanted = false }
        guard !isOwnOffer || wasRestart else { return }
        offered = nil
        // In a restart the agent has done so itself.
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
