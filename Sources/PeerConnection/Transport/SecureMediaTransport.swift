internal import RTCShareICE
package import RTCShareSecureTransport
internal import RTCShareWireFormat

/// DTLS, and SRTP with its keys (RFC 5764).
struct SecureMediaTransport {
    private let context: DTLSContext
    private(set) var dtls: DTLSConnection?
    private(set) var outbound: SRTPSender?
    private(set) var inbound: SRTPReceiver?
    /// Whether DTLS has datagrams to send, cached because every packet needs it.
    private var hasTransmits = false
    /// The time of the next ``handleTimeout(now:)``; nil for never. It is cached as well.
    private(set) var nextDeadline: Instant?
    /// The datagrams of a handshake that started before the peer's description arrived.
    private(set) var early: [EarlyDatagram] = []
    /// The observer of keys; see ``PeerConnection/keyObserver``.
    var keyObserver: ((SRTPKeyingMaterial) -> Void)?

    /// A DTLS datagram with its route.
    struct EarlyDatagram {
        let bytes: [UInt8]
        let source: TransportAddress
        let base: BaseAddress
    }

    /// The maximum number of stored datagrams from a handshake that starts before the peer's description.
    static var maximumEarly: Int { 4 }

    /// The result of an input.
    enum Outcome: Equatable {
        case nothing
        /// Keys are available: media can be sent and received.
        case connected
        case failed(reason: String)
        case closedByPeer
    }

    /// Whether DTLS timeouts follow ICE's round-trip time.
    private let followsRoundTrip: Bool
    /// The number of retransmissions of the server's last flight without a sign of the peer. Its loss would delay all
    /// media until the peer's timer expires, which takes a second with some peers.
    private static var lastFlightRepetitions: Int { 3 }

    /// - Parameters:
    /// - releasesHandshake: See ``PeerConnection/Configuration/releasesHandshake``.
    /// - retransmission: See ``PeerConnection/Configuration/handshakeRetransmission``.
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

    /// Stores a datagram that arrived before ``prepare(role:expected:)``, since the peer may retransmit its first
    /// flight only after seconds. Returns false if the oldest datagram was dropped.
    mutating func keep(_ datagram: EarlyDatagram) -> Bool {
        let isFull = early.count >= Self.maximumEarly
        if isFull { early.removeFirst() }
        early.append(datagram)
        return !isFull
    }

    /// Removes and returns the stored datagrams.
    mutating func takeEarly() -> [EarlyDatagram] {
        defer { early = [] }
        return early
    }

    /// Creates the connection with the negotiated role of this side.
    mutating func prepare(role: DTLSRole, expected: [Fingerprint]) throws(DTLSError) {
        dtls = try DTLSConnection(role: role, context: context, expectedFingerprints: expected)
        noteChange()
    }

    /// Starts the handshake once there is a route. Later calls only affect datagrams that waited for the route.
    mutating func start(now: Instant) -> Outcome {
        dtls?.start(now: now)
        dtls?.pathOpened(now: now)
        return outcome()
    }

    /// Sets the round-trip time, which determines the timeouts of the handshake.
    mutating func setRoundTripTime(_ time: Duration) {
        guard followsRoundTrip, outbound == nil else { return }
        dtls?.setRoundTripTime(time)
    }

    mutating func handle(datagram: RawSpan, now: Instant) -> Outcome {
        // The peer can have a route before this side does. Its flight is processed now, and answered once there is a
        // route.
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

    /// Returns the next DTLS datagram; nil if there is none.
    mutating func pollTransmit() -> [UInt8]? {
        guard hasTransmits, let datagram = dtls?.pollTransmit() else {
            hasTransmits = false
            return nil
        }
        return datagram
    }

    private var isReported = false
    private var isPeerThrough = false
    /// Whether the memory of the DTLS handshake is still to be released.
    private var mayRest: Bool

    /// Records that the peer has used the keys, so that it has completed the handshake.
    mutating func peerIsThrough() {
        if !isPeerThrough {
            isPeerThrough = true
            dtls?.peerIsThrough()
            noteChange()
        }
        guard mayRest else { return }
        mayRest = dtls?.rest() == false
    }

    /// Returns the change since the last call.
    private mutating func outcome() -> Outcome {
        noteChange()
        return change()
    }

    /// Updates the cached values after every input of DTLS.
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
                // A packet is protected twice only if it is identical; see `VideoRTPStream.SentPacket`.
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
    /// An observer of the SRTP keys before they are discarded, for tools that decrypt captured packets.
    package var keyObserver: ((SRTPKeyingMaterial) -> Void)? {
        get { transport.keyObserver }
        set { transport.keyObserver = newValue }
    }
}
