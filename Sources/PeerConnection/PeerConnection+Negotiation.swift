public import ICE
internal import RTP
public import SDP
internal import SecureTransport
public import WireFormat

extension PeerConnection {
    /// Adds an address that a socket is bound to: a host candidate. The one added first is preferred.
    public mutating func addLocalAddress(_ address: TransportAddress, now: Instant) {
        agent.addLocalHost(address, interfaceOrder: agent.localCandidates.count, now: now)
    }

    /// Says that this machine is known outside under `address`, port for port (1:1 NAT). To be called after the last
    /// ``addLocalAddress(_:now:)``.
    public mutating func addPublicAddress(_ address: IPAddress, now: Instant) {
        agent.addPublicAddress(address, now: now)
    }

    /// Asks STUN servers how this peer looks from outside, and TURN servers for addresses to relay from;
    /// ``Event/gatheringComplete`` follows.
    public mutating func gather(servers: [ICEServerAddress], now: Instant) {
        agent.gather(servers: servers, now: now)
        advance(now: now)
    }

    /// Whether a STUN server told of an address that is no socket's own.
    public var hasReflexiveCandidate: Bool {
        agent.localCandidates.contains { $0.type == .serverReflexive && $0.address != $0.base }
    }

    /// Whether a TURN server relays for this peer.
    public var hasRelayedCandidate: Bool {
        agent.localCandidates.contains { $0.type == .relayed }
    }

    /// What each STUN and TURN server answered to each local address.
    public func serverReports() -> [ServerReport] {
        agent.serverReports()
    }

    /// Offers everything in the identity, with every candidate that is known: the first time, or again in the session
    /// that stands (RFC 3264 §8). Its `o=` line has a new version where it differs from the description before.
    public mutating func makeOffer() throws(NegotiationError) -> SessionDescription {
        let sections = offeredSections()
        func offer(_ version: UInt64) throws(NegotiationError) -> SessionDescription {
            try Negotiation.makeOffer(
                OfferParameters(
                    sessionID: identity.sessionID, sessionVersion: version, transport: transportParameters,
                    sections: sections))
        }
        var made = try offer(descriptions.version)
        if negotiated != nil, made.description != descriptions.newest {
            made = try offer(descriptions.version &+ 1)
        }
        descriptions.note(made)
        return made
    }

    /// Takes the peer's answer to an offer of this identity. The first one begins to connect; a later one of the same
    /// session starts and stops media, and changes nothing else. One that is refused leaves all as it was.
    /// - Throws: `NegotiationError`, or `PeerConnectionError` for what can't be done in this session.
    public mutating func accept(
        answer: SessionDescription, to offer: SessionDescription, now: Instant
    ) throws {
        guard progress != .ended else { throw PeerConnectionError.ended }
        if let negotiated {
            try Negotiation.checkContinuity(of: offer, .offer, with: negotiated.sections)
        }
        let session = try Negotiation.negotiate(offer: offer, answer: answer, agreed: negotiated)
        try take(session, isOwnOffer: true, now: now)
        descriptions.note(offer)
    }

    /// Answers the peer's offer, taking what it sends: the first time, and begins to wait for its checks, or again in the
    /// session that stands. One that is refused leaves all as it was.
    /// - Throws: `NegotiationError`, or `PeerConnectionError` for what can't be done in this session.
    public mutating func answer(offer: SessionDescription, now: Instant) throws -> SessionDescription {
        guard progress != .ended else { throw PeerConnectionError.ended }
        var parameters = AnswerParameters(
            sessionID: identity.sessionID,
            sessionVersion: negotiated == nil ? descriptions.version : descriptions.version &+ 1,
            transport: transportParameters)
        parameters.agreed = negotiated
        for (index, media) in outbound.enumerated() {
            if let section = media.section, !media.hasEnded { parameters.sending[section] = ownSection(index) }
        }
        let (answer, session) = try Negotiation.makeAnswer(to: offer, parameters)
        try take(session, isOwnOffer: false, now: now)
        descriptions.note(answer)
        return answer
    }

    private var transportParameters: TransportParameters {
        let fingerprint = identity.certificate.fingerprint()
        return TransportParameters(
            ice: ICEAttributes(
                usernameFragment: identity.iceUsernameFragment, password: identity.icePassword),
            fingerprints: [
                FingerprintAttribute(hashFunction: fingerprint.algorithm.rawValue, bytes: fingerprint.bytes)
            ],
            candidates: agent.localCandidates.map(CandidateAttribute.init))
    }

    private mutating func take(_ session: NegotiatedSession, isOwnOffer: Bool, now: Instant) throws {
        // All that can fail comes first: a description that was refused leaves the connection as it was.
        if let negotiated {
            try checkTransport(of: session, follows: negotiated)
        } else {
            try prepareTransport(session, now: now)
        }
        let known = negotiated?.remoteCandidates ?? []
        apply(session, isOwnOffer: isOwnOffer, now: now)
        newCandidates = session.remoteCandidates.filter { !known.contains($0) }
        negotiated?.remoteCandidates = known + newCandidates
        unresolvedNames.formUnion(namedCandidates.map(\.host.description))
        for candidate in newCandidates {
            if case .address(let ip) = candidate.host { add(candidate, at: ip, now: now) }
        }
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
        let credentials = try Credentials(
            usernameFragment: session.remoteICE.usernameFragment, password: session.remoteICE.password)
        try transport.prepare(role: session.localSetup == .active ? .client : .server, expected: expected)
        progress = .connecting
        agent.setRemote(credentials: credentials, isLite: session.remoteIsICELite, now: now)
    }

    /// There is one transport, and it stays: other ICE credentials would restart ICE (RFC 8839 §4.4.3), another
    /// fingerprint or part would begin another DTLS association (RFC 8842 §4).
    private func checkTransport(
        of session: NegotiatedSession, follows agreed: NegotiatedSession
    ) throws(PeerConnectionError) {
        guard session.remoteICE == agreed.remoteICE else { throw .restartUnsupported }
        guard Set(session.remoteFingerprints) == Set(agreed.remoteFingerprints) else { throw .fingerprintChanged }
        guard session.localSetup == agreed.localSetup else { throw .restartUnsupported }
    }

    /// The candidates of the newest description that name a host instead of an address: for the owner to resolve.
    public var namedCandidates: [CandidateAttribute] {
        newCandidates.filter { if case .name = $0.host { $0.isUDP || $0.tcpType == "passive" } else { false } }
    }

    /// Adds a candidate whose host name turned out to have this address.
    public mutating func addRemoteCandidate(_ candidate: CandidateAttribute, at address: IPAddress, now: Instant) {
        guard progress != .ended else { return }
        unresolvedNames.remove(candidate.host.description)
        add(candidate, at: address, now: now)
        advance(now: now)
    }

    /// No candidate of the peer will follow. One whose name has found no address may still come forward by itself.
    public mutating func endRemoteCandidates(now: Instant) {
        guard progress != .ended else { return }
        for _ in unresolvedNames { agent.noteUnresolvedRemoteName() }
        unresolvedNames = []
        agent.endOfRemoteCandidates(now: now)
        advance(now: now)
    }

    private mutating func add(_ candidate: CandidateAttribute, at ip: IPAddress, now: Instant) {
        agent.addRemoteCandidate(
            foundation: candidate.foundation, component: Int(candidate.component), transport: candidate.transport,
            priority: candidate.priority, address: TransportAddress(ip: ip, port: candidate.port),
            type: candidate.kind.description, tcpType: candidate.tcpType, now: now)
    }
}

extension CandidateAttribute {
    init(_ candidate: Candidate) {
        self.init(
            foundation: candidate.foundation, priority: candidate.priority, host: .address(candidate.address.ip),
            port: candidate.address.port, kind: Kind(candidate.type.rawValue),
            relatedHost: candidate.relatedAddress.map { .address($0.ip) },
            relatedPort: candidate.relatedAddress?.port)
        if candidate.transport == .tcp {
            transport = "tcp"
            tcpType = "active"
        }
    }
}
