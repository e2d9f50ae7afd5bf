internal import RTCShareCongestionControl
package import RTCShareICE
internal import RTCShareRTP
package import RTCShareSDP
package import RTCShareSecureTransport
package import RTCShareWireFormat

/// A whole WebRTC peer, without input or output: descriptions, ICE, DTLS, SRTP, RTP and RTCP.
///
///     datagram ──▶ handle ──▶ ICE │ DTLS │ SRTP ──▶ events
///     frame ─────▶ send ────▶ pacer ─▶ packet ─▶ SRTP ──▶ pollTransmit
///
/// Whoever owns it tells it what arrived and what time it is, and after each input takes out datagrams until there are
/// none (``pollTransmit(into:now:)``), events until there are none (``pollEvent()``), and asks when to call
/// ``handleTimeout(now:)`` (``nextDeadline(now:)``). It opens no socket and reads no clock, so that a whole call runs in
/// a test in virtual time.
package struct PeerConnection: ~Copyable {
    /// What a connection goes by.
    package struct Configuration: Sendable {
        /// What the wallclock shows when the monotonic clock stands at zero, since 1 January 1970: for sender reports.
        package var unixTimeAtZero = Duration.zero
        /// The most that is sent: pictures, sound, retransmissions and headers together.
        package var maximumBitrate = DataRate.kilobitsPerSecond(2500)
        /// What the path is taken to carry until something is known of it. Probes find out within its first round trips;
        /// where the peer gives no transport-wide feedback nothing but its reports does, once a second, so that this is
        /// higher than the 300 kbit/s that are usual.
        package var startBitrate = DataRate.kilobitsPerSecond(1000)
        /// How long to look for a path to the peer before giving up.
        package var connectTimeout = Duration.seconds(30)
        /// Which paths may be taken: any, or through TURN servers alone.
        package var iceTransportPolicy = ICETransportPolicy.all
        /// Whether host names among the peer's candidates are looked up in DNS, which tells whoever serves the name who
        /// asks. Those under `.local`, by which browsers hide their addresses, are asked for on the local network in any
        /// case; where relays alone may be used, no name is.
        package var resolvesHostNames = false
        /// The lifetime that addresses at TURN servers are asked for with; they are extended in time all the same.
        package var relayLifetime = Duration.seconds(600)
        /// How SRTP may protect media, the preferred profile first.
        package var srtpProfiles = SRTPProfile.preferred

        /// How long to wait for a restart once the peer's consent has expired, and with it the right to send, before the
        /// connection fails: 30 s suit who has a way to exchange descriptions while the connection stands. Zero, the
        /// default, is for who has none: it fails at once.
        package var restartPatience = Duration.zero
        /// Whether candidates can be exchanged with the peer one by one (RFC 8838). Descriptions then say so, may be made
        /// before ``Event/gatheringComplete``, and what is found later is told by ``Event/localCandidate``.
        package var trickles = false
        /// Whether OpenSSL's state of DTLS is let go once the peer's media have come, but for the keys of its alerts: some 40
        /// kilobytes a connection less, where one program has hundreds. What is said and heard of DTLS from then on, the
        /// goodbye, is then this library's own rather than OpenSSL's.
        package var releasesHandshake = false

        /// 2500 kbit/s, half a minute to connect.
        package init() {}
    }

    /// What happened.
    package enum Event: Sendable {
        /// Every STUN and TURN server has answered or was given up.
        case gatheringComplete
        /// A STUN or TURN server gave nothing, or gives nothing any longer.
        case serverFailed(ServerFailure)
        /// Media can flow: a path was found and the peer's certificate is the announced one.
        case connected
        /// The peer has not answered for some seconds; it may come back.
        case disconnected
        /// The peer answers again.
        case reconnected
        /// There is nothing to send on: the peer's consent has expired, or the socket in use is gone. An offer after
        /// ``PeerConnection/restartICE()``, and its answer, can find another way. Told once until there is one.
        case restartNeeded
        /// A candidate that the newest description of this side lacks, for the peer, with the `a=mid` of its section and the
        /// user name fragment that it belongs to. Only where both sides trickle.
        case localCandidate(CandidateAttribute, mid: String, ufrag: String)
        /// No further ``localCandidate(_:mid:ufrag:)`` will come, unless an address is added.
        case localCandidatesEnded
        /// A description was taken: ``PeerConnection/remoteMedia`` may have more entries, or other ones.
        case remoteMediaChanged
        /// The peer needs a key frame of the media with this index.
        case keyFrameRequested(media: Int)
        /// The peer reported what share of a sound's packets it lost since it reported before, 0...1.
        case lossReported(fraction: Double, media: Int)
        /// The encoder of a media is to go by another rate, or is to drop frames, or need not any more: told at once where
        /// the rate fell by more than a hundredth or rose by more than a twentieth, and where the queue fills or empties;
        /// of smaller rises, and where the delay or the loss has become another, at most once a second.
        case targetBitrateChanged(BitrateTarget, media: Int)
        /// A whole frame of what is received; the index is that of ``PeerConnection/remoteMedia``.
        case frame(AssembledFrame, receiver: Int)
        /// A packet of sound, in the order of arrival.
        case sound(ReceivedAudioPacket, receiver: Int)
        /// Media began to come, or ceased to.
        case activityChanged(ReceiverActivity, receiver: Int)
        /// The peer said goodbye. Told once.
        case closedByPeer
        /// The connection can't begin, or has ended.
        case failed(Failure)
    }

    /// Why a connection ended.
    package enum Failure: Error, Sendable, Hashable {
        /// No pair of addresses worked in time.
        case unreachable
        /// A path there was, and the peer has not agreed to being sent to for too long (RFC 7675).
        case consentExpired
        /// DTLS failed, or SRTP could not be set up after it.
        case insecure(reason: String)
    }

    var configuration: Configuration
    var identity: LocalIdentity
    /// ICE, which finds the way to the peer.
    var ice: ICESession
    var transport: SecureMediaTransport
    var negotiated: NegotiatedSession?
    var descriptions = DescriptionHistory()
    /// The way to the peer, once ICE has found one.
    var path = SelectedPath()
    /// What became of each of the identity's media.
    var outbound: [OutboundMedia]
    /// What the peer sends.
    var receivers = Receivers()
    /// What of it leaves, when, and at what rates.
    var bandwidth: BandwidthControl
    /// What is said by RTCP.
    var control = RTCPExchange()
    var hasPeerLeft = false
    var events: [Event] = []
    var progress = Progress.new
    var counts = TransportCounts()
    var random: any RandomNumberGenerator & Sendable

    /// How far a connection has come.
    enum Progress: Hashable {
        case new
        case connecting
        case connected
        case disconnected
        case ended
    }

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
            releasesHandshake: configuration.releasesHandshake)
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

    /// Tells the peer goodbye: RTCP BYE, then DTLS close_notify. What was to be sent before is thrown away.
    package mutating func close(now: Instant) {
        guard progress != .ended else { return }
        bandwidth.pacer.removeAll()
        queueGoodbye(now: now)
        transport.close()
        progress = .ended
    }

    mutating func fail(_ failure: Failure) {
        guard progress != .ended else { return }
        progress = .ended
        bandwidth.pacer.removeAll()
        control.clear()
        // Without consent nothing may be sent any more (RFC 7675 §5.1); with it, the alert says why this is the end.
        switch failure {
        case .unreachable, .consentExpired: path.lose()
        case .insecure: break
        }
        // Of a peer that has left, silence is no news.
        if !hasPeerLeft { events.append(.failed(failure)) }
    }

    mutating func noteDeparture() {
        guard !hasPeerLeft, progress != .ended else { return }
        hasPeerLeft = true
        events.append(.closedByPeer)
    }
}

/// What was written for the caller to send: a datagram, or bytes of a stream.
///
/// Of streams there is one for each `source`, `destination` and `transport`, from the source's address and any port. It
/// is opened when the first transmission names it; ``PeerConnection/framing(of:over:)`` says how what it brings is taken
/// apart into the messages that ``PeerConnection/handle(_:from:to:over:now:)`` takes.
package struct Transmission: Sendable, Hashable {
    /// The socket to send it from; of a stream, the one whose address it is opened from.
    package let source: TransportAddress
    /// Where it goes.
    package let destination: TransportAddress
    /// How it gets there.
    package let transport: TransportProtocol
    /// Its bytes, from the start of the memory that was lent.
    package let byteCount: Int
}

/// What the transport counted, under the names of W3C webrtc-stats (`RTCTransportStats`), and what it let fall.
struct TransportCounts: Sendable {
    var packetsSent: UInt64 = 0
    var bytesSent: UInt64 = 0
    var packetsReceived: UInt64 = 0
    var bytesReceived: UInt64 = 0
    /// SRTP packets that were forged, replayed, or came before the keys.
    var packetsRefused: UInt64 = 0
    /// Packets of no protocol, no section or no meaning.
    var packetsUnknown: UInt64 = 0
    /// Frames, of pictures or of sound, that came before the peer could take them, or when it took none.
    var framesDropped: UInt64 = 0
    /// Packets that could not be written or protected.
    var packetsUnsent: UInt64 = 0
}
