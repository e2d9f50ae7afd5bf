internal import ICE
internal import RTP
public import SDP
internal import SecureTransport
public import WireFormat

extension PeerConnection {
    /// Adds an address that a socket is bound to: a host candidate. The one added first is preferred.
    public mutating func addLocalAddress(_ address: TransportAddress, now: Instant) {
        agent.addLocalHost(address, interfaceOrder: agent.localCandidates.count, now: now)
    }

    /// Asks STUN servers how this peer looks from outside; ``Event/gatheringComplete`` follows.
    public mutating func gather(servers: [TransportAddress], now: Instant) {
        agent.gather(servers: servers, now: now)
        advance(now: now)
    }

    /// Whether a STUN server told of an address that is no socket's own.
    public var hasReflexiveCandidate: Bool {
        agent.localCandidates.contains { $0.type == .serverReflexive && $0.address != $0.base }
    }

    /// The offer of everything in the identity, with every candidate that is known.
    public func makeOffer() throws(NegotiationError) -> SessionDescription {
        let sections = identity.media.map { media in
            switch media.kind {
            case .video(let streamID, _):
                OfferedSection.contentVideo(
                    mid: media.mid, stream: MediaStreamAttribute(streamID: streamID, trackID: media.trackID),
                    ssrc: media.source, rtxSSRC: media.retransmissionSource, cname: identity.canonicalName)
            }
        }
        return try Negotiation.makeOffer(
            OfferParameters(sessionID: identity.sessionID, transport: transportParameters, sections: sections))
    }

    /// Takes the peer's answer to an offer of this identity, and begins to connect.
    public mutating func accept(
        answer: SessionDescription, to offer: SessionDescription, now: Instant
    ) throws {
        let session = try Negotiation.negotiate(offer: offer, answer: answer)
        try take(session, now: now)
    }

    /// Answers the peer's offer, taking what it sends, and begins to wait for its checks.
    public mutating func answer(offer: SessionDescription, now: Instant) throws -> SessionDescription {
        let (answer, session) = try Negotiation.makeAnswer(
            to: offer, AnswerParameters(sessionID: identity.sessionID, transport: transportParameters))
        try take(session, now: now)
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

    private mutating func take(_ session: NegotiatedSession, now: Instant) throws {
        guard progress == .new else { throw PeerConnectionError.alreadyNegotiated }
        let expected = try session.remoteFingerprints.map { fingerprint in
            guard let algorithm = Fingerprint.Algorithm(rawValue: fingerprint.hashFunction) else {
                throw FingerprintError.unknownAlgorithm(fingerprint.hashFunction)
            }
            return try Fingerprint(algorithm: algorithm, bytes: fingerprint.bytes)
        }
        // All that can fail comes first: an answer that was refused leaves the connection as it was.
        let credentials = try Credentials(
            usernameFragment: session.remoteICE.usernameFragment, password: session.remoteICE.password)
        try transport.prepare(role: session.localSetup == .active ? .client : .server, expected: expected)
        for media in session.acceptedMedia {
            if media.direction.sends, let parameters = VideoSender.Parameters(media) {
                senders.append(VideoSender(parameters: parameters, random: &random))
            }
            if media.direction.receives {
                let localSource = SynchronizationSource(UInt32.random(in: 1...UInt32.max, using: &random))
                inbound.append(InboundMedia(media, localSource: localSource))
            }
        }
        if let source = inbound.first(where: { $0.negotiated.feedback.contains(.transportWide) })?.localSource {
            arrivals = TransportFeedbackGenerator(sender: source)
        }
        negotiated = session
        progress = .connecting
        unresolvedNames = Set(namedCandidates.map(\.host.description))
        agent.setRemote(credentials: credentials, isLite: session.remoteIsICELite, now: now)
        for candidate in session.remoteCandidates {
            if case .address(let ip) = candidate.host { add(candidate, at: ip, now: now) }
        }
        receiveEarlyDatagrams(now: now)
        advance(now: now)
    }

    /// The candidates that name a host instead of an address: for the owner to resolve.
    public var namedCandidates: [CandidateAttribute] {
        negotiated?.remoteCandidates.filter { if case .name = $0.host { $0.isUDP } else { false } } ?? []
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
            type: candidate.kind.description, now: now)
    }

    /// The media streams that the peer sends, as its sections name them.
    public var remoteStreamIDs: [String] {
        inbound.map { $0.negotiated.remote.streams.first?.streamID ?? "" }
    }
}

extension VideoSender.Parameters {
    init?(_ media: NegotiatedMedia) {
        guard let source = media.local.ssrc, let payloadType = PayloadType(media.payloadType) else { return nil }
        self.source = SynchronizationSource(source)
        self.payloadType = payloadType
        mid = media.mid ?? ""
        extensions = HeaderExtensionMap(media)
        isContent = media.local.isSlides
        if let type = media.rtxPayloadType.flatMap({ PayloadType($0) }), let source = media.local.rtxSSRC {
            retransmission = (SynchronizationSource(source), type)
        } else {
            retransmission = nil
        }
    }
}

extension CandidateAttribute {
    init(_ candidate: Candidate) {
        self.init(
            foundation: candidate.foundation, priority: candidate.priority, host: .address(candidate.address.ip),
            port: candidate.address.port, kind: Kind(candidate.type.rawValue),
            relatedHost: candidate.relatedAddress.map { .address($0.ip) },
            relatedPort: candidate.relatedAddress?.port)
    }
}
