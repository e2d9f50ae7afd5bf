internal import RTCShareCongestionControl
package import RTCShareWireFormat

/// A whole WebRTC peer, without input or output: descriptions, ICE, DTLS, SRTP, RTP and RTCP.
///
///     datagram ──▶ handle ──▶ ICE │ DTLS │ SRTP ──▶ frames, events
///     frame ─────▶ send ────▶ pacer ─▶ packet ─▶ SRTP ──▶ pollTransmit
///
/// Its owner passes received datagrams and the time. After each input it takes datagrams until there are none
/// (``pollTransmit(into:now:)``), then frames (``nextReceived()``) and events (``pollEvent()``), and reads the time of
/// the next ``handleTimeout(now:)`` (``nextDeadline(now:)``). The connection opens no socket and reads no clock, so
/// that a whole call runs in a test in virtual time.
package struct PeerConnection: ~Copyable {
    var configuration: Configuration
    /// The identity, with the media of this side.
    var identity: LocalIdentity
    var random: any RandomNumberGenerator & Sendable

    /// The negotiated session; nil before the peer's first description.
    var negotiated: NegotiatedSession?
    /// The descriptions of this side.
    var descriptions = DescriptionHistory()
    /// The sections in offers that request media from the peer, in addition to this side's media.
    var receivingSections: [OfferedSection] = []
    /// ICE, which finds a route to the peer.
    var ice: ICESession
    /// The selected route.
    var path = SelectedPath()
    /// DTLS and SRTP over the route.
    var transport: SecureMediaTransport

    /// The senders of the identity's media.
    var outbound: [OutboundMedia]
    /// Whether a media has had a layer queue. For other connections, the queues are not read with every packet.
    var hasLayerQueues = false
    /// The pacer and the bitrates.
    var bandwidth: BandwidthControl
    /// The receivers of the peer's media.
    var receivers = Receivers()
    /// RTCP of both sides.
    var control = RTCPExchange()

    var state = ConnectionState.new
    /// Whether the peer has closed the connection, which is reported as closed. This side has yet to say goodbye.
    var hasPeerLeft = false
    /// The reason why the connection failed; nil if it did not.
    package private(set) var failure: Failure?
    var events: [Event] = []
    var counts = TransportCounts()

    /// The part of this side in the negotiation.
    package enum Part: Sendable {
        /// The side that makes the offer, and controls ICE (RFC 8445 §6.1.1).
        case offerer
        /// The side that makes the answer.
        case answerer
    }

    /// Creates a connection that has not negotiated yet.
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

    /// Returns the next event, or nil. Take all of them after each input.
    package mutating func pollEvent() -> Event? {
        events.takeFirst()
    }

    /// Returns the next complete frame or audio packet, or nil. Take all of them after each input, before its events.
    package mutating func nextReceived() -> Received? { receivers.nextReceived() }

    /// Closes the connection with an RTCP BYE and a DTLS close_notify. Queued packets are discarded.
    package mutating func close(now: Instant) {
        guard !state.isOver else { return }
        removeQueuedPackets()
        queueGoodbye(now: now)
        transport.close()
        state = .closed
    }

    private mutating func removeQueuedPackets() {
        bandwidth.pacer.removeAll()
        for index in outbound.indices { outbound[index].video?.layerQueue = nil }
    }

    mutating func change(to new: ConnectionState) {
        state = new
        // The silence of a peer that has left is not an event.
        if !hasPeerLeft { events.append(.stateChanged(new)) }
    }

    mutating func fail(_ failure: Failure) {
        guard !state.isOver else { return }
        removeQueuedPackets()
        control.clear()
        // Without consent nothing may be sent (RFC 7675 §5.1). With it, the peer receives the alert that explains the
        // failure.
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
