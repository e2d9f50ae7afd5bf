internal import RTCShareCOpenSSL
package import RTCShareWireFormat

/// A DTLS 1.2 connection that agrees on SRTP keys (RFC 5764), without input or output of its own.
///
/// Datagrams that the demultiplexer takes for DTLS (first byte 20 to 63, RFC 7983 §7) go in through
/// ``handle(datagram:now:)``, time through ``handleTimeout(now:)`` at ``nextDeadline``; after each input ``state`` says
/// where it stands and ``pollTransmit()`` gives the datagrams to send, alerts of a failure included.
///
///     new ──start──▶ handshaking ──peer verified──▶ connected
///                        │                              │
///                        ├── alert, mismatch, time ──▶ failed ◀── fatal alert
///                        └── close ───────────────▶ closed ◀── close, close_notify
///
/// ``keys`` are released only after the certificate was found to be the one that the session description promises.
package final class DTLSConnection {
    /// Where the connection stands.
    package enum State: Hashable, Sendable {
        /// Not started; datagrams are discarded.
        case new
        /// Under way.
        case handshaking
        /// The peer is who it should be, and there are keys for SRTP.
        case connected
        /// Over.
        case failed(DTLSError)
        /// Ended by this side, or by the peer's `close_notify`.
        case closed(byPeer: Bool)
    }

    /// Which end this is.
    package let role: DTLSRole
    /// Where the connection stands.
    package private(set) var state = State.new {
        didSet {
            if state != .connected { keys = nil }
            if !isLive { lastFlight = nil }
        }
    }
    /// The keys for SRTP while it is connected, until ``discardKeys()``.
    package private(set) var keys: SRTPKeyingMaterial?
    /// What came, went and was dropped.
    package private(set) var statistics = DTLSStatistics()

    private let context: DTLSContext
    private let transport: DatagramBIO
    /// OpenSSL's; nil once ``rest()`` has put ``alerts`` in its place.
    private var ssl: OpaquePointer?
    private var alerts: DTLSAlerts?
    private var handshakeDeadline: Instant?
    private var isHandshakeDone = false
    private var suspicion: Suspicion?
    private var lastFlight: LastFlight?

    /// An alert in the clear, which the peer's silence will confirm.
    private struct Suspicion {
        let code: UInt8
        let ends: Instant
        /// How often the flight in the air was sent again since.
        var retransmissions = 0
    }

    /// The server's last flight, of which it is not known whether the peer has it.
    ///
    /// It is sent again as it was: who has it drops it as a replay (RFC 6347 §4.1.2.6).
    private struct LastFlight {
        let datagrams: [[UInt8]]
        var due: Instant
        /// Until it is sent once more after that.
        var wait: Duration
        var left: Int
        /// The first repetition does not wait for a sign of the peer: it is there before most of what media follow, which
        /// a peer without the flight can't decrypt, and behind what may have taken the flight with it.
        static let pause = Duration.milliseconds(5)
        /// What a receiver of media takes its time for, beyond the round trip, until its first feedback: libwebrtc's for
        /// transport-wide numbers comes each 100 ms.
        static let feedbackInterval = Duration.milliseconds(100)
    }

    private static let closeNotify: UInt8 = 0
    /// The shortest that a flight waits for its answer (as libwebrtc's).
    private static let shortestRetransmission = Duration.milliseconds(50)

    /// How long, and for how many transmissions, a peer must be silent after an alert in the clear.
    private static let alertPatience = Duration.seconds(2)
    private static let alertRetransmissions = 2

    /// A connection that has not started.
    ///
    /// - Parameters:
    ///   - role: which end this is.
    ///   - context: certificate and settings, shared by any number of connections.
    ///   - expectedFingerprints: the fingerprints in the peer's session description.
    package init(role: DTLSRole, context: DTLSContext, expectedFingerprints: [Fingerprint]) throws(DTLSError) {
        let configuration = context.configuration
        let transport = DatagramBIO(
            timer: RetransmissionTimer(
                initial: configuration.initialRetransmission, maximum: configuration.maximumRetransmission),
            maximumDatagramByteCount: configuration.maximumDatagramByteCount,
            expectedFingerprints: expectedFingerprints)
        OpenSSLError.clear()
        guard let ssl = SSL_new(context.pointer) else {
            throw .libraryFailure(operation: "SSL_new", reason: OpenSSLError.takeReason())
        }
        guard let bio = transport.makeBIO() else {
            SSL_free(ssl)
            throw .libraryFailure(operation: "BIO_new", reason: OpenSSLError.takeReason())
        }
        SSL_set_bio(ssl, bio, bio)
        DatagramBIO.takeTimer(of: ssl)
        do throws(DTLSError) {
            try context.showCertificate(on: ssl)
        } catch {
            SSL_free(ssl)
            throw error
        }
        self.role = role
        self.context = context
        self.transport = transport
        self.ssl = ssl
        guard copenssl_set_mtu(ssl, configuration.maximumDatagramByteCount) != 0 else {
            throw .libraryFailure(operation: "SSL_set_mtu", reason: "\(configuration.maximumDatagramByteCount)")
        }
        switch role {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
        SSL_set_info_callback(ssl) { ssl, event, value in
            guard event == SSL_CB_ALERT | SSL_CB_READ else { return }
            // The level is in the upper byte, the description in the lower.
            DatagramBIO.of(SSL_get_rbio(ssl))?.recordAlert(isFatal: value >> 8 == 2, code: UInt8(value & 0xFF))
        }
    }

    deinit { SSL_free(ssl) }

    /// Lets go of what only the handshake takes, most of the connection's memory: for when the peer is known to be through
    /// with it, too, as who sends media that authenticate. From then on alerts are heard and said, and nothing else.
    ///
    /// - Returns: false where it is too early, for something is still to be sent.
    @discardableResult
    package func rest() -> Bool {
        guard isHandshakeDone, state == .connected, !hasTransmits else { return false }
        // Of suites with other ciphers OpenSSL goes on to hold the keys.
        guard let ssl, let alerts = DTLSAlerts(of: ssl, role: role) else { return true }
        agreed = (profile, cipherSuite, version)
        self.alerts = alerts
        self.ssl = nil
        SSL_free(ssl)
        return true
    }

    /// Whether it is at rest.
    package var isResting: Bool { ssl == nil }

    /// Lets go of ``keys``: for who has handed them to SRTP. With the last copy of them their memory is wiped.
    package func discardKeys() {
        keys = nil
    }

    // MARK: Input

    /// Starts the handshake: the client's first flight goes out, the server waits.
    package func start(now: Instant) {
        guard state == .new else { return }
        state = .handshaking
        handshakeDeadline = now.advanced(by: context.configuration.handshakeLimit)
        transport.timer.now = now
        advance()
    }

    /// Has flights wait for their answers a little longer than the path's round trip (RFC 6347 §4.2.4.1), where that is
    /// shorter than ``DTLSConfiguration/initialRetransmission``.
    package func setRoundTripTime(_ time: Duration) {
        transport.timer.expectAnswers(within: max(Self.shortestRetransmission, time + max(time / 8, .milliseconds(15))))
    }

    /// Says that what there is to send can leave only now: a flight that waited for that is in the air from now on.
    package func pathOpened(now: Instant) {
        guard hasTransmits, transport.hasFlightInAir else { return }
        transport.timer.now = now
        transport.timer.start()
    }

    /// Says that the peer is known to have all of the handshake, as who protects media by its keys.
    package func peerIsThrough() {
        lastFlight = nil
    }

    /// Takes a datagram. One that is no DTLS is counted and dropped; one that ends the connection shows in ``state``. An
    /// alert in the clear ends a handshake only where two seconds of silence follow it.
    package func handle(datagram: RawSpan, now: Instant) {
        statistics.datagramsReceived += 1
        statistics.bytesReceived += UInt64(datagram.byteCount)
        guard isLive else { return statistics.datagramsDiscarded += 1 }
        switch DTLSRecords.content(of: datagram, to: role, shortestProtected: shortestProtectedRecord) {
        case .malformed: statistics.datagramsDiscarded += 1
        case .unprovenAlert(let isFatal, let code): record(unprovenAlert: code, isFatal: isFatal, now: now)
        case .records:
            if let alerts { return handle(alerts.alerts(in: datagram)) }
            transport.timer.now = now
            let before = SSL_get_state(ssl)
            let isRepeated = transport.hasFlightInAir && DTLSRecords.beginsFlight(datagram, to: role)
            datagram.withUnsafeBytes { bytes in
                transport.lending(bytes) { advance() }
            }
            if SSL_get_state(ssl) != before {
                suspicion = nil
            } else if isRepeated, transport.hasFlightInAir, !hasTransmits, transport.timer.hasten() {
                // RFC 6347 §4.2.4: what the peer repeats was not answered.
                statistics.retransmissions += 1
                transport.repeatFlight()
            }
        }
    }

    /// An alert in the clear proves nothing: it counts where the peer is silent from then on, as a peer is that has ended.
    private func record(unprovenAlert code: UInt8, isFatal: Bool, now: Instant) {
        statistics.unprovenAlerts += 1
        // Before a flight of ours is under way there is nothing that the peer would have to answer.
        guard state == .handshaking, !isHandshakeDone, suspicion == nil, transport.timer.deadline != nil else { return }
        guard isFatal || code == Self.closeNotify else { return }
        suspicion = Suspicion(code: code, ends: now.advanced(by: Self.alertPatience))
    }

    /// Sends the flight in the air again if it is due, and fails a handshake that took too long. Too early a call does
    /// nothing.
    package func handleTimeout(now: Instant) {
        repeatLastFlight(now: now)
        guard state == .handshaking, !isHandshakeDone else { return }
        transport.timer.now = now
        if let handshakeDeadline, handshakeDeadline <= now {
            return fail(.timedOut(after: context.configuration.handshakeLimit))
        }
        if let suspicion, suspicion.ends <= now, suspicion.retransmissions >= Self.alertRetransmissions {
            return fail(
                suspicion.code == Self.closeNotify
                    ? .closedInHandshake
                    : .peerAlert(
                        code: suspicion.code,
                        name: String(cString: SSL_alert_desc_string_long(Int32(suspicion.code)))))
        }
        guard transport.timer.expire() else { return }
        statistics.retransmissions += 1
        suspicion?.retransmissions += 1
        transport.repeatFlight()
    }

    /// Ends the connection; the peer is told with a `close_notify` where there is a connection to tell it over.
    package func close() {
        switch state {
        case .new: state = .closed(byPeer: false)
        case .handshaking, .connected:
            sendCloseNotify()
            state = .closed(byPeer: false)
        case .failed, .closed: break
        }
    }

    // MARK: Output

    /// When ``handleTimeout(now:)`` is to be called; nil for never.
    package var nextDeadline: Instant? {
        guard !isHandshakeDone, state == .handshaking else { return lastFlight?.due }
        var deadline = handshakeDeadline
        if let retransmission = transport.timer.deadline { deadline = min(deadline ?? retransmission, retransmission) }
        // Where it asks for more retransmissions, those are the next thing to come.
        if let suspicion, suspicion.retransmissions >= Self.alertRetransmissions {
            deadline = min(deadline ?? suspicion.ends, suspicion.ends)
        }
        return deadline
    }

    /// Whether ``pollTransmit()`` has something to give.
    package var hasTransmits: Bool { !transport.outgoing.isEmpty }

    /// The next datagram to send; nil when there is none.
    package func pollTransmit() -> [UInt8]? {
        guard !transport.outgoing.isEmpty else { return nil }
        let datagram = transport.outgoing.removeFirst()
        statistics.datagramsSent += 1
        statistics.bytesSent += UInt64(datagram.count)
        return datagram
    }

    // MARK: What was agreed

    /// What OpenSSL knew, once it is gone.
    private var agreed: (profile: SRTPProfile?, cipherSuite: String?, version: String?)

    /// The peer's certificate in DER, once the handshake is through.
    package private(set) var peerCertificate: [UInt8]?

    /// The SHA-256 fingerprint of the peer's certificate, once the handshake is through.
    package var peerFingerprint: Fingerprint? { peerCertificate.map { Fingerprint(ofCertificate: $0) } }

    /// The profile agreed on, whether or not the keys are released yet.
    package var profile: SRTPProfile? {
        guard let ssl else { return agreed.profile }
        guard isHandshakeDone, let selected = SSL_get_selected_srtp_profile(ssl) else { return nil }
        return UInt16(exactly: selected.pointee.id).flatMap(SRTPProfile.init)
    }

    /// The cipher suite's name in IANA's registry, as webrtc-stats' `dtlsCipher` has it.
    package var cipherSuite: String? {
        guard let ssl else { return agreed.cipherSuite }
        guard isHandshakeDone, let cipher = SSL_get_current_cipher(ssl), let name = SSL_CIPHER_standard_name(cipher)
        else { return nil }
        return String(cString: name)
    }

    /// The protocol version on the wire, as webrtc-stats' `tlsVersion` has it: `FEFD` for DTLS 1.2.
    package var version: String? {
        guard let ssl else { return agreed.version }
        return isHandshakeDone ? String(SSL_version(ssl), radix: 16, uppercase: true) : nil
    }

    // MARK: Inside

    private var isLive: Bool {
        switch state {
        case .handshaking, .connected: true
        case .new, .failed, .closed: false
        }
    }

    /// The explicit nonce and the tag of the suite in use, or of the one that was just agreed on (RFC 5288 §3, RFC 7905 §2);
    /// with the suites that have none of this, the initialization vector and a block (RFC 5246 §6.2.3.2).
    private var shortestProtectedRecord: Int? {
        guard let ssl else { return DTLSAlerts.shortestRecordByteCount }
        guard let suite = SSL_get_pending_cipher(ssl) ?? SSL_get_current_cipher(ssl) else { return nil }
        return switch SSL_CIPHER_get_cipher_nid(suite) {
        case NID_chacha20_poly1305: 16
        case NID_aes_128_gcm, NID_aes_256_gcm: DTLSAlerts.shortestRecordByteCount
        default: 32
        }
    }

    /// Lets OpenSSL work on what there is.
    private func advance() {
        OpenSSLError.clear()
        guard SSL_alloc_buffers(ssl) == 1 else {
            return fail(.libraryFailure(operation: "SSL_alloc_buffers", reason: OpenSSLError.takeReason()))
        }
        defer { releaseBuffers() }
        if !isHandshakeDone {
            let waiting = transport.outgoing.count
            let result = SSL_do_handshake(ssl)
            statistics.alertsReceived = transport.alertsReceived
            guard result == 1 else { return examine(result) }
            isHandshakeDone = true
            handshakeDeadline = nil
            keepLastFlight(of: Array(transport.outgoing[waiting...]))
            // What is sent again of the last flight is kept as it was sent.
            SSL_certs_clear(ssl)
            verifyPeer()
        }
        if isLive { readRecords() }
    }

    /// After the handshake hardly anything comes for the rest of a call: the 33 kilobytes of two records are taken again
    /// for what does.
    private func releaseBuffers() {
        if isHandshakeDone { SSL_free_buffers(ssl) }
    }

    /// Reads to the end of the datagram: alerts, and the peer's last flight once more, which OpenSSL answers with ours.
    /// There is no use for application data here; it is counted.
    private func readRecords() {
        var result: Int32
        repeat {
            OpenSSLError.clear()
            result = withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 16) { memory in
                SSL_read(ssl, memory.baseAddress, Int32(clamping: memory.count))
            }
            if result > 0 { statistics.applicationDataDiscarded += 1 }
        } while result > 0
        statistics.alertsReceived = transport.alertsReceived
        examine(result)
    }

    /// Turns a result that is no success into what it means for the connection.
    private func examine(_ result: Int32) {
        let code = SSL_get_error(ssl, result)
        guard code != SSL_ERROR_WANT_READ, code != SSL_ERROR_WANT_WRITE else { return }
        let reason = OpenSSLError.takeReason()
        if let rejected = transport.rejectedCertificate {
            fail(mismatch(rejected))
        } else if let alert = transport.fatalAlert {
            fail(.peerAlert(code: alert, name: String(cString: SSL_alert_desc_string_long(Int32(alert)))))
        } else if SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 {
            if state == .connected {
                sendCloseNotify()
                state = .closed(byPeer: true)
            } else {
                fail(.closedInHandshake)
            }
        } else {
            fail(.handshakeFailed(reason: reason))
        }
    }

    private func verifyPeer() {
        OpenSSLError.clear()
        guard let x509 = X509Handle(adopting: SSL_get1_peer_certificate(ssl)) else {
            return fail(.handshakeFailed(reason: "the peer showed no certificate"))
        }
        let certificate = x509.derBytes
        peerCertificate = certificate
        guard transport.accepts(certificate: certificate) else {
            sendCloseNotify()
            return fail(mismatch(certificate))
        }
        guard let profile else {
            sendCloseNotify()
            return fail(.noSRTPProfile)
        }
        let exported = SecretBytes(byteCount: SRTPKeyingMaterial.exportedByteCount(profile))
        let label = SRTPKeyingMaterial.exporterLabel
        let isExported = exported.withUnsafeMutableBytes { memory in
            SSL_export_keying_material(
                ssl, memory.bindMemory(to: UInt8.self).baseAddress, memory.count, label, label.utf8.count, nil, 0, 0)
        }
        let keys = exported.withUnsafeBytes {
            try? SRTPKeyingMaterial(profile: profile, role: role, exported: $0.bytes)
        }
        guard isExported == 1, let keys else {
            return fail(.libraryFailure(operation: "exporting keys", reason: OpenSSLError.takeReason()))
        }
        state = .connected
        self.keys = keys
    }

    /// The mismatch in the hash function that decided, so that both sides of it can be compared by eye.
    private func mismatch(_ derBytes: [UInt8]) -> DTLSError {
        let expected = transport.expectedFingerprints
        let algorithm = expected.map(\.algorithm).max() ?? .sha256
        return .fingerprintMismatch(
            expected: expected, actual: Fingerprint(ofCertificate: derBytes, algorithm: algorithm))
    }

    private func handle(_ alerts: [DTLSAlerts.Alert]) {
        for alert in alerts where isLive {
            statistics.alertsReceived += 1
            if alert.code == Self.closeNotify {
                sendCloseNotify()
                state = .closed(byPeer: true)
            } else if alert.isFatal {
                fail(
                    .peerAlert(
                        code: alert.code, name: String(cString: SSL_alert_desc_string_long(Int32(alert.code)))))
            }
        }
    }

    private func keepLastFlight(of datagrams: [[UInt8]]) {
        let count = context.configuration.lastFlightRepetitions
        // Sessions are not resumed, so that it is always the server's.
        guard role == .server, count > 0, !datagrams.isEmpty else { return }
        lastFlight = LastFlight(
            datagrams: datagrams, due: transport.timer.now.advanced(by: LastFlight.pause),
            wait: transport.timer.answerTime + LastFlight.feedbackInterval, left: count)
    }

    private func repeatLastFlight(now: Instant) {
        guard var flight = lastFlight, flight.due <= now else { return }
        statistics.retransmissions += 1
        transport.outgoing += flight.datagrams
        flight.left -= 1
        flight.due = now.advanced(by: flight.wait)
        flight.wait *= 2
        lastFlight = flight.left > 0 ? flight : nil
    }

    private func sendCloseNotify() {
        if ssl == nil {
            let datagram = alerts?.datagram(DTLSAlerts.Alert(isFatal: false, code: Self.closeNotify))
            if let datagram { transport.outgoing.append(datagram) }
            return
        }
        guard isHandshakeDone, SSL_alloc_buffers(ssl) == 1 else { return }
        OpenSSLError.clear()
        SSL_shutdown(ssl)
        OpenSSLError.clear()
        releaseBuffers()
    }

    private func fail(_ error: DTLSError) {
        state = .failed(error)
    }
}

/// What a DTLS connection has seen.
package struct DTLSStatistics: Hashable, Sendable {
    /// Datagrams handed in.
    package internal(set) var datagramsReceived: UInt64 = 0
    /// Their bytes.
    package internal(set) var bytesReceived: UInt64 = 0
    /// Of them, those that were no DTLS records, or came before the start or after the end.
    package internal(set) var datagramsDiscarded: UInt64 = 0
    /// Datagrams taken out for sending.
    package internal(set) var datagramsSent: UInt64 = 0
    /// Their bytes.
    package internal(set) var bytesSent: UInt64 = 0
    /// Flights sent again because no answer came in time.
    package internal(set) var retransmissions: UInt64 = 0
    /// Alerts in the clear, which may be anybody's.
    package internal(set) var unprovenAlerts: UInt64 = 0
    /// Alerts of the peer, warnings and `close_notify` included.
    package internal(set) var alertsReceived: UInt64 = 0
    /// Pieces of application data, of which this library makes no use.
    package internal(set) var applicationDataDiscarded: UInt64 = 0
}
