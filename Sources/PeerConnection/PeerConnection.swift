internal import RTCShareCongestionControl
package import RTCShareWireFormat

/// A whole WebRTC peer, without input or output: descriptions, ICE, DTLS, SRTP, RTP and RTCP.
///
///     datagram ──▶ handle ──▶ ICE │ DTLS │ SRTP ──▶ frames, events
///     frame ─────▶ send ────▶ pacer ─▶ packet ─▶ SRTP ──▶ pollTransmit
///
/// Whoever owns it tells it what arrived and what time it is, and after each input takes out datagrams until there are
/// none (``pollTransmit(into:now:)``), then frames (``nextReceived()``) and events (``pollEvent()``), and asks when to call
/// ``handleTimeout(now:)`` (``nextDeadline(now:)``). It opens no socket and reads no clock, so that a whole call runs in
/// a test in virtual time.
package struct PeerConnection: ~Copyable {
    var configuration: Configuration
    /// What it is known by, and what this side sends.
    var identity: LocalIdentity
    var random: any RandomNumberGenerator & Sendable

    /// What the descriptions agree on; nil before the peer's first.
    var negotiated: NegotiatedSession?
    /// Those that this side made.
    var descriptions = DescriptionHistory()
    /// What offers ask the peer to send, beside what this side does.
    var receivingSections: [OfferedSection] = []
    /// ICE, which finds a way to the peer.
    var ice: ICESession
    /// The way that it has selected.
    var path = SelectedPath()
    /// DTLS and SRTP on it.
    var transport: SecureMediaTransport

    /// What became of each of the identity's media.
    var outbound: [OutboundMedia]
    /// When their packets leave, and at what rates.
    var bandwidth: BandwidthControl
    /// What the peer sends.
    var receivers = Receivers()
    /// The RTCP of both.
    var control = RTCPExchange()

    var state = ConnectionState.new
    /// Whether the peer said goodbye, which its owner knows as closed. This side has yet to do so.
    var hasPeerLeft = false
    /// Why the connection failed; nil if it did not.
    package private(set) var failure: Failure?
    var events: [Event] = []
    var counts = TransportCounts()

    /// Which description this side makes.
    package enum Part: Sendable {
        /// Makes the offer, and controls ICE (RFC 8445 §6.1.1).
        case offerer
        /// Answers.
        case answerer
    }

    /// A peer that has not met another.
    package init(
        as part: Part, identity: LocalIdentity, configuration: Configuration,
        random: any RandomNumberGenerator & Sendable
    ) throws {
        let limit = Self.maximumMedia
        if identity.media.count > limit { throw PeerConnectionError.tooManyMedia(limit: limit) }
        let transport = try SecureMediaTransport(
            certificate: identity.certificate, profiles: configuration.srtpProfiles,
            releasesHandshake: configuration.releasesHandshake,
            retransmission: configuration.handshakeRetransmission)
        ice = try ICESession(as: part, identity: identity, configuration: configuration, random: random)
        outbound = identity.media.map { _ in OutboundMedia() }
        self.identity = identity
        self.configuration = configuration
        self.transport = transport
        self.random = random
        bandwidth = BandwidthControl(configuration)
    }

    /// The next thing that happened, or nil; take all of them after each input.
    package mutating func pollEvent() -> Event? {
        events.takeFirst()
    }

    /// The next frame or packet of sound that arrived whole, or nil; take all of them after each input, before its events.
    package mutating func nextReceived() -> Received? { receivers.nextReceived() }

    /// Tells the peer goodbye: RTCP BYE, then DTLS close_notify. What was to be sent before is thrown away.
    package mutating func close(now: Instant) {
        guard !state.isOver else { return }
        bandwidth.pacer.removeAll()
        queueGoodbye(now: now)
        transport.close()
        state = .closed
    }

    mutating func change(to new: ConnectionState) {
        state = new
        // Of a peer that has left, silence is no news.
        if !hasPeerLeft { events.append(.stateChanged(new)) }
    }

    mutating func fail(_ failure: Failure) {
        guard !state.isOver else { return }
        bandwidth.pacer.removeAll()
        control.clear()
        // Without consent nothing may be sent any more (RFC 7675 §5.1); with it, the alert says why this is the end.
        switch failure {
        case .unreachable, .consentExpired: path.lose()
        case .insecure: break
        }
        self.failure = failure
        change(to: .failed)
    }

    mutating func peerDidLeave() {
        guard !hasPeerLeft, !state.isOver else { return }
        hasPeerLeft = true
        events.append(.stateChanged(.closed))
    }
}
