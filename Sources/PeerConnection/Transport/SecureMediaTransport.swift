package import RTCShareSecureTransport
internal import RTCShareWireFormat

/// DTLS, and the SRTP that grows out of it (RFC 5764).
struct SecureMediaTransport {
    private let context: DTLSContext
    private(set) var dtls: DTLSConnection?
    private(set) var outbound: SRTPSender?
    private(set) var inbound: SRTPReceiver?
    /// Whether DTLS has datagrams to send: kept, for every packet asks.
    private var hasTransmits = false
    /// When ``handleTimeout(now:)`` is to be called; nil for never. Kept as well.
    private(set) var nextDeadline: Instant?
    /// What came of a handshake that began before the peer's description was here.
    private(set) var early: [EarlyDatagram] = []
    /// See ``PeerConnection/keyObserver``.
    var keyObserver: ((SRTPKeyingMaterial) -> Void)?

    /// A datagram of DTLS, and the way that it came.
    struct EarlyDatagram {
        let bytes: [UInt8]
        let source: TransportAddress
        let base: TransportAddress
    }

    /// The most datagrams that are kept of a handshake that begins before the peer's description is here.
    static var maximumEarly: Int { 4 }

    /// What an input led to.
    enum Outcome: Equatable {
        case nothing
        /// Keys are there: media can flow.
        case connected
        case failed(reason: String)
        case closedByPeer
    }

    /// Whether DTLS is to wait as long as ICE's round trip.
    private let followsRoundTrip: Bool
    /// How often the server's last flight is sent again where the peer shows nothing: its loss would cost the peer's timer,
    /// a second with some, and all media until then.
    private static var lastFlightRepetitions: Int { 3 }

    /// - Parameters:
    ///   - releasesHandshake: See ``PeerConnection/Configuration/releasesHandshake``.
    ///   - retransmission: See ``PeerConnection/Configuration/handshakeRetransmission``.
    init(
        certificate: Certificate, profiles: [SRTPProfile], releasesHandshake: Bool, retransmission: Duration?
    ) throws {
        var configuration = DTLSConfiguration(certificate: certificate, profiles: profiles)
        if let retransmission {
            configuration.initialRetransmission = retransmission
        } else {
            configuration.lastFlightRepetitions = Self.lastFlightRepetitions
        }
        followsRoundTrip = retransmission == nil
        context = try DTLSContext(configuration)
        mayRest = releasesHandshake
    }

    /// Keeps a datagram that came before ``prepare(role:expected:)``: the peer may send its first flight again only seconds
    /// later. False where the oldest had to give way.
    mutating func keep(_ datagram: EarlyDatagram) -> Bool {
        let isFull = early.count >= Self.maximumEarly
        if isFull { early.removeFirst() }
        early.append(datagram)
        return !isFull
    }

    /// What was kept, for who has prepared.
    mutating func takeEarly() -> [EarlyDatagram] {
        defer { early = [] }
        return early
    }

    /// Takes up the part that the descriptions gave this side.
    mutating func prepare(role: DTLSRole, expected: [Fingerprint]) throws(DTLSError) {
        dtls = try DTLSConnection(role: role, context: context, expectedFingerprints: expected)
        noteChange()
    }

    /// Starts the handshake once there is a path. Later calls do nothing but for what waited for the path.
    mutating func start(now: Instant) -> Outcome {
        dtls?.start(now: now)
        dtls?.pathOpened(now: now)
        return outcome()
    }

    /// Has the handshake go by a round trip on the path.
    mutating func setRoundTripTime(_ time: Duration) {
        guard followsRoundTrip, outbound == nil else { return }
        dtls?.setRoundTripTime(time)
    }

    mutating func handle(datagram: RawSpan, now: Instant) -> Outcome {
        // The peer may see a path before this side does. Its flight is taken in now, and answered once there is a path.
        if let dtls, dtls.role == .server, dtls.state == .new { dtls.start(now: now) }
        dtls?.handle(datagram: datagram, now: now)
        return outcome()
    }

    mutating func handleTimeout(now: Instant) -> Outcome {
        guard let due = nextDeadline, due <= now else { return .nothing }
        dtls?.handleTimeout(now: now)
        return outcome()
    }

    mutating func close() {
        dtls?.close()
        noteChange()
    }

    /// The next datagram of DTLS; nil where there is none.
    mutating func pollTransmit() -> [UInt8]? {
        guard hasTransmits, let datagram = dtls?.pollTransmit() else {
            hasTransmits = false
            return nil
        }
        return datagram
    }

    private var isReported = false
    private var isPeerThrough = false
    /// Whether DTLS is still to be put to rest.
    private var mayRest: Bool

    /// Takes note that the peer has protected something by the keys: it has all of the handshake.
    mutating func peerIsThrough() {
        if !isPeerThrough {
            isPeerThrough = true
            dtls?.peerIsThrough()
            noteChange()
        }
        guard mayRest else { return }
        mayRest = dtls?.rest() == false
    }

    /// What changed since it was last asked for.
    private mutating func outcome() -> Outcome {
        noteChange()
        return change()
    }

    /// After every input of DTLS: what it is asked for with every packet.
    private mutating func noteChange() {
        hasTransmits = dtls?.hasTransmits ?? false
        nextDeadline = dtls?.nextDeadline
    }

    private mutating func change() -> Outcome {
        switch dtls?.state {
        case .connected where outbound == nil:
            guard let keys = dtls?.keys else { return .nothing }
            defer { dtls?.discardKeys() }
            keyObserver?(keys)
            do {
                // A packet is only ever protected twice when it is the very same one: see `VideoRTPStream.SentPacket`.
                outbound = try SRTPSender(
                    profile: keys.profile, masterKey: keys.local, allowsRepeatedTransmission: true)
                inbound = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
                return .connected
            } catch {
                return .failed(reason: "\(error)")
            }
        case .failed(let error) where !isReported:
            isReported = true
            return .failed(reason: "\(error)")
        case .closed(byPeer: true) where !isReported:
            isReported = true
            return .closedByPeer
        default:
            return .nothing
        }
    }
}

extension PeerConnection {
    /// Sees the keys of SRTP before they are discarded: for who decrypts what was captured.
    package var keyObserver: ((SRTPKeyingMaterial) -> Void)? {
        get { transport.keyObserver }
        set { transport.keyObserver = newValue }
    }
}
