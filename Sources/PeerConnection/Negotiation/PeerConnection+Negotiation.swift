package import RTCShareICE
internal import RTCShareRTP
package import RTCShareSDP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Adds the address of a bound socket as a host candidate. The first one is preferred.
    package mutating func addLocalAddress(_ address: TransportAddress, now: Instant) {
        ice.agent.addLocalHost(address, interfaceOrder: ice.agent.localCandidates.count, now: now)
        advance(now: now)
    }

    /// Adds the address of a listener, to which peers open TCP connections (RFC 6544).
    package mutating func addListener(_ address: TransportAddress, now: Instant) {
        ice.agent.addListener(address, now: now)
        advance(now: now)
    }

    /// The addresses of bound sockets.
    package var localAddresses: [TransportAddress] { ice.agent.hosts }

    /// Whether a description of the peer's was accepted.
    package var isNegotiated: Bool { negotiated != nil }

    /// Adds `address` as a public address of this machine, with the same ports (1:1 NAT). Call it after the last
    /// ``addLocalAddress(_:now:)``.
    package mutating func addPublicAddress(_ address: IPAddress, now: Instant) {
        ice.agent.addPublicAddress(address, now: now)
    }

    /// Adds the address that a router forwards to a bound socket or a listener, instead of a former one.
    package mutating func addForwardedAddress(
        _ address: TransportAddress, to base: BaseAddress, insteadOf former: TransportAddress? = nil, now: Instant
    ) {
        ice.agent.addForwardedAddress(address, to: base, insteadOf: former, now: now)
    }

    /// Requests mapped addresses from STUN servers and relayed addresses from TURN servers. ``Event/gatheringComplete``
    /// follows. With `moreFollow`, it follows the call with the last servers.
    package mutating func gather(servers: [ICEServerAddress], moreFollow: Bool = false, now: Instant) {
        ice.gather(servers: servers, moreFollow: moreFollow, now: now)
        advance(now: now)
    }

    /// Resumes relayed addresses that another peer connection left, from the same local addresses and ports.
    /// ``Event/gatheringComplete`` follows.
    package mutating func resume(_ relays: [RelayState], now: Instant) {
        ice.agent.resume(relays, now: now)
        advance(now: now)
    }

    /// Returns the states with which another peer connection can resume the relayed addresses over UDP.
    package func relayStates(now: Instant) -> [RelayState] {
        ice.agent.relayStates(now: now)
    }

    /// Whether the relayed addresses of ``relayStates(now:)`` stay at their servers at the end, instead of being
    /// released.
    package var keepsRelays: Bool {
        get { ice.agent.keepsRelays }
        set { ice.agent.keepsRelays = newValue }
    }

    /// Whether a STUN server reported an address that is not a socket's own.
    package var hasReflexiveCandidate: Bool {
        ice.agent.localCandidates.contains { $0.type == .serverReflexive && $0.address != $0.base }
    }

    /// Whether a TURN server relays for this peer.
    package var hasRelayedCandidate: Bool {
        ice.agent.localCandidates.contains { $0.type == .relayed }
    }

    /// Returns the result of each STUN and TURN server for each local address.
    package func serverReports() -> [ServerReport] {
        ice.agent.serverReports()
    }

    /// Makes an offer of all media in the identity with all known candidates: the first one, or a later one of the
    /// session (RFC 3264 §8). Its `o=` line has a new version if it differs from the previous description. After
    /// ``restartICE()`` it has new ICE credentials.
    package mutating func makeOffer() throws(NegotiationError) -> SessionDescription {
        let sections = offeredSections()
        ice.offerRestart(random: &random)
        let transport = transportParameters(ice.offered ?? ice.local, peerTrickles: peerTrickles)
        func offer(_ version: UInt64) throws(NegotiationError) -> SessionDescription {
            try Negotiation.makeOffer(
                OfferParameters(
                    sessionID: identity.sessionID, sessionVersion: version, transport: transport, sections: sections))
        }
        var made = try offer(descriptions.version)
        if negotiated != nil, !descriptions.isNewest(made) {
            made = try offer(descriptions.version &+ 1)
        }
        descriptions.note(made)
        ice.note(made, transport)
        return made
    }

    /// Applies the peer's answer to an offer of this identity. The first one starts the connection. A later one starts
    /// and stops media, and restarts ICE if the offer does. A rejected answer changes nothing.
    /// - Throws: `NegotiationError`, or `PeerConnectionError` for a change that this session does not support.
    package mutating func accept(
        answer: SessionDescription, to offer: SessionDescription, now: Instant
    ) throws {
        guard !state.isOver else { throw PeerConnectionError.ended }
        if let negotiated {
            try Negotiation.checkContinuity(of: offer, .offer, with: negotiated.sections)
        }
        let restarts = try negotiated != nil && ice.isRestarting(offer)
        let session = try Negotiation.negotiate(
            offer: offer, answer: answer, agreed: negotiated, videoFormats: configuration.videoFormats)
        try take(session, isOwnOffer: true, restart: restarts ? ice.offered : nil, now: now)
        descriptions.note(offer)
    }

    /// Answers the peer's offer: the first one, after which this side waits for checks, or a later one of the session.
    /// An offer with other ICE credentials restarts ICE. A rejected offer changes nothing.
    ///
    /// If it crosses an offer of this side that restarts ICE, the controlling side rejects it. The controlled side
    /// rolls its own offer back, and restarts ICE with its next one.
    /// - Throws: `NegotiationError`, or `PeerConnectionError` for a change that this session does not support.
    package mutating func answer(offer: SessionDescription, now: Instant) throws -> SessionDescription {
        guard !state.isOver else { throw PeerConnectionError.ended }
        if ice.offered != nil, ice.agent.role == .controlling { throw PeerConnectionError.offerOutstanding }
        let peerTrickles = Self.trickles(offer)
        var parameters = AnswerParameters(
            sessionID: identity.sessionID,
            sessionVersion: negotiated == nil ? descriptions.version : descriptions.version &+ 1,
            transport: transportParameters(ice.local, peerTrickles: peerTrickles),
            codecs: videoCodecs + [.opusReceived])
        parameters.agreed = negotiated
        parameters.declined = receivers.declinedSections
        for (index, media) in outbound.enumerated() where isLeading(index) {
            if let section = media.section, !media.hasEnded {
                parameters.sending[section] = answeringOwnSection(index)
            }
        }
        let places = places(in: offer)
        for (section, index) in places { parameters.sending[section] = answeringSection(index) }
        var (answer, session) = try Negotiation.makeAnswer(to: offer, parameters)
        var restart: ICEAttributes?
        if let negotiated, session.remoteICE != negotiated.remoteICE {
            let drawn = ICEAttributes(Credentials.random(using: &random))
            restart = drawn
            parameters.transport = transportParameters(drawn, peerTrickles: peerTrickles)
            (answer, session) = try Negotiation.makeAnswer(to: offer, parameters)
        }
        try take(session, isOwnOffer: false, places: places, restart: restart, now: now)
        descriptions.note(answer)
        ice.note(answer, parameters.transport)
        return answer
    }

    private func transportParameters(_ credentials: ICEAttributes, peerTrickles: Bool) -> TransportParameters {
        let fingerprint = identity.certificate.fingerprint()
        return TransportParameters(
            ice: credentials,
            iceOptions: configuration.trickles ? ["ice2", "trickle"] : ["ice2"],
            fingerprints: [
                FingerprintAttribute(hashFunction: fingerprint.algorithm.rawValue, bytes: fingerprint.bytes)
            ],
            // The peer does not receive its own peer-reflexive observations.
            candidates: ice.agent.localCandidates.filter { $0.type != .peerReflexive }.map(CandidateAttribute.init),
            hasAllCandidates: !(configuration.trickles && peerTrickles) || ice.isGatheringComplete)
    }

    private mutating func take(
        _ session: NegotiatedSession, isOwnOffer: Bool, places: [Int: Int] = [:], restart: ICEAttributes?, now: Instant
    ) throws {
        // Everything that can fail comes first, so that a rejected description does not change the connection.
        var restarts = false
        if let negotiated {
            restarts = try checkTransport(
                of: session, follows: negotiated, mayRestart: restart != nil, isOwnOffer: isOwnOffer)
            if restarts, let restart { try ice.restart(restart, with: session, after: negotiated, now: now) }
        } else {
            try prepareTransport(session, now: now)
        }
        ice.settleOffer(isOwnOffer: isOwnOffer, hasRestarted: restarts, wasRestart: restart != nil)
        let known = restarts ? [] : negotiated?.remoteCandidates ?? []
        // The agent accepts no more candidates, and compares each with all others.
        let room = max(0, ice.agent.maximumRemoteCandidates - known.count)
        var new = Array(session.remoteCandidates.lazy.filter { !known.contains($0) }.prefix(room))
        // This does not set `negotiated?.remoteCandidates` later: Swift 6.3 never releases the array that such an
        // assignment replaces. In-place changes, such as trickled candidates, don't leak; AnsweringMemoryTests tests
        // both.
        var agreed = session
        agreed.remoteCandidates = known + new
        if let negotiated { agreed.localSetup = negotiated.localSetup }
        apply(agreed, isOwnOffer: isOwnOffer, places: places, now: now)
        new += takeEarlyCandidates()
        for candidate in new {
            switch candidate.host {
            case .address(let ip): ice.add(candidate, at: ip, now: now)
            case .name(let name) where candidate.isCheckable: ice.note(name: name)
            case .name: continue
            }
        }
        ice.pending.newest = new
        events.append(.remoteMediaChanged)
        receiveEarlyDatagrams(now: now)
        advance(now: now)
    }

    private mutating func prepareTransport(_ session: NegotiatedSession, now: Instant) throws {
        let expected = try session.remoteFingerprints.map { fingerprint in
            guard let algorithm = Fingerprint.Algorithm(rawValue: fingerprint.hashFunction) else {
                throw FingerprintError.unknownAlgorithm(fingerprint.hashFunction)
            }
            return try Fingerprint(algorithm: algorithm, bytes: fingerprint.bytes)
        }
        let credentials = try Credentials(session.remoteICE)
        try transport.prepare(role: session.localSetup == .active ? .client : .server, expected: expected)
        change(to: .connecting)
        ice.agent.setRemote(credentials: credentials, isLite: session.remoteIsICELite, now: now)
    }

    /// Checks that the transport stays the same: another fingerprint, or another role in an offer, would start another
    /// DTLS association (RFC 8842 §3.1). Other ICE credentials restart ICE (RFC 8839 §4.4.1.1.1). Returns whether they
    /// do.
    ///
    /// The role in a later answer has no effect. Peers keep their role in the association although they answer with
    /// `a=setup:active`: Firefox when ICE restarts, and Pion before 2026 after it made the first offer.
    private func checkTransport(
        of session: NegotiatedSession, follows agreed: NegotiatedSession, mayRestart: Bool, isOwnOffer: Bool
    ) throws(PeerConnectionError) -> Bool {
        guard Set(session.remoteFingerprints) == Set(agreed.remoteFingerprints) else { throw .fingerprintChanged }
        guard isOwnOffer || session.localSetup == agreed.localSetup else { throw .setupChanged }
        let isOther = session.remoteICE != agreed.remoteICE
        if isOther, !mayRestart { throw .restartNotOffered }
        // A side that rejects all sections has no credentials in its answer either.
        if mayRestart, !isOther, isOwnOffer, !session.acceptedMedia.isEmpty { throw .restartNotAnswered }
        return isOther
    }

    /// The candidates of the latest description with a host name instead of an address, which the owner must resolve.
    package var namedCandidates: [CandidateAttribute] { ice.pending.named }

    /// Adds a candidate with the resolved address of its host name.
    package mutating func addRemoteCandidate(_ candidate: CandidateAttribute, at address: IPAddress, now: Instant) {
        guard !state.isOver else { return }
        ice.pending.noteResolved(candidate.host.description)
        ice.add(candidate, at: address, now: now)
        advance(now: now)
    }

    /// Sets the prefix of the network's translation of IPv4 addresses (NAT64, RFC 6052), for a machine without such an
    /// address. The peer's IPv4 candidates are checked at their translated addresses too.
    package mutating func setTranslation(_ prefix: NAT64Prefix?, now: Instant) {
        guard !state.isOver, prefix != ice.translation else { return }
        ice.translation = prefix
        guard prefix != nil else { return }
        for candidate in negotiated?.remoteCandidates ?? [] {
            if case .address(let ip) = candidate.host { ice.add(candidate, at: ip, now: now) }
        }
        advance(now: now)
    }

    /// Records the end of the peer's candidates. A candidate whose name has no address can still send checks itself. If
    /// `ufrag` is not the peer's latest user name fragment, the call has no effect.
    package mutating func endRemoteCandidates(ufrag: String? = nil, now: Instant) {
        guard !state.isOver, ufrag == nil || ufrag == negotiated?.remoteICE.usernameFragment else { return }
        ice.endRemoteCandidates(now: now)
        advance(now: now)
    }
}

extension CandidateAttribute {
    init(_ candidate: Candidate) {
        self.init(
            foundation: candidate.foundation, priority: candidate.priority, host: .address(candidate.address.ip),
            port: candidate.address.port, kind: Kind(candidate.type.rawValue),
            relatedHost: candidate.relatedAddress.map { .address($0.ip) },
            relatedPort: candidate.relatedAddress?.port)
        if let type = candidate.tcpType {
            transport = "tcp"
            tcpType = type.rawValue
        }
    }
}
