internal import RTCShareCOpenSSL
package import RTCShareWireFormat

/// A DTLS 1.2 connection that negotiates SRTP keys (RFC 5764), without input or output of its own.
///
/// The owner passes datagrams that the demultiplexer identifies as DTLS (first byte 20 to 63, RFC 7983 §7) to
/// ``handle(datagram:now:)``, and calls ``handleTimeout(now:)`` at ``nextDeadline``. After each input, ``state`` is
/// current and ``pollTransmit()`` returns the datagrams to send, including the alert of a failure.
///
///     new ──start──▶ handshaking ──peer verified──▶ connected
///                        │                              │
///                        ├── alert, mismatch, time ──▶ failed ◀── fatal alert
///                        └── close ───────────────▶ closed ◀── close, close_notify
///
/// ``keys`` are available only after the certificate was found to match the session description.
package final class DTLSConnection {
    /// The state of the connection.
    package enum State: Hashable, Sendable {
        /// The connection has not started. Datagrams are discarded.
        case new
        /// The handshake is in progress.
        case handshaking
        /// The peer is authenticated, and there are keys for SRTP.
        case connected
        /// The connection has failed.
        case failed(DTLSError)
        /// This side closed the connection, or the peer did with a `close_notify`.
        case closed(byPeer: Bool)
    }

    /// The role of this side.
    package let role: DTLSRole
    /// The current state.
    package private(set) var state = State.new {
        didSet {
            if state != .connected { keys = nil }
            if !isLive { lastFlight = nil }
        }
    }
    /// The keys for SRTP while the connection is connected, until ``discardKeys()``.
    package private(set) var keys: SRTPKeyingMaterial?
    /// The counts of datagrams and alerts.
    package private(set) var statistics = DTLSStatistics()

    private let context: DTLSContext
    private let transport: DatagramBIO
    /// OpenSSL's connection; nil after ``rest()`` has replaced it with ``alerts``.
    private var ssl: OpaquePointer?
    private var alerts: DTLSAlerts?
    private var handshakeDeadline: Instant?
    private var isHandshakeDone = false
    private var suspicion: Suspicion?
    private var lastFlight: LastFlight?

    /// An unauthenticated alert, which the peer's silence will confirm.
    private struct Suspicion {
        let code: UInt8
        let ends: Instant
        /// The number of retransmissions of the current flight since then.
        var retransmissions = 0
    }

    /// The server's last flight, which the peer may not have received.
    ///
    /// It is retransmitted without changes: a peer that has it drops it as a replay (RFC 6347 §4.1.2.6).
    private struct LastFlight {
        let datagrams: [[UInt8]]
        var due: Instant
        /// The interval between later retransmissions.
        var wait: Duration
        var left: Int
        /// The delay of the first retransmission, which does not wait for a sign of the peer. It arrives before most of
        /// the media, which a peer without the flight can't decrypt, and after a burst of loss that may have dropped
        /// the flight.
        static let pause = Duration.milliseconds(5)
        /// The time until a receiver of media sends its first feedback, in addition to the round trip: libwebrtc sends
        /// transport-wide feedback every 100 ms.
        static let feedbackInterval = Duration.milliseconds(100)
    }

    private static let closeNotify: UInt8 = 0
    /// The minimum retransmission timeout of a flight (as in libwebrtc).
    private static let shortestRetransmission = Duration.milliseconds(50)

    /// The time and the number of transmissions for which a peer must be silent after an unauthenticated alert.
    private static let alertPatience = Duration.seconds(2)
    private static let alertRetransmissions = 2

    /// Creates a connection that has not started.
    ///
    /// - Parameters:
    /// - role: The role of this side.
    /// - context: The certificate and settings, which any number of connections share.
    /// - expectedFingerprints: The fingerprints in the peer's session description.
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
            // The level is in the upper byte, the description in the lower byte.
            DatagramBIO.of(SSL_get_rbio(ssl))?.recordAlert(isFatal: value >> 8 == 2, code: UInt8(value & 0xFF))
        }
    }

    deinit { SSL_free(ssl) }

    /// Releases the memory that only the handshake needs, which is most of the connection's. Call it after the peer has
    /// completed the handshake, too, as media that authenticate show. From then on the connection only sends and
    /// receives alerts.
    ///
    /// - Returns: False if it is too early because datagrams are still to be sent.
    @discardableResult
    package func rest() -> Bool {
        guard isHandshakeDone, state == .connected, !hasTransmits else { return false }
        // For suites with other ciphers OpenSSL keeps the keys.
        guard let ssl, let alerts = DTLSAlerts(of: ssl, role: role) else { return true }
        agreed = (profile, cipherSuite, version)
        self.alerts = alerts
        self.ssl = nil
        SSL_free(ssl)
        return true
    }

    /// Whether ``rest()`` has released the memory.
    package var isResting: Bool { ssl == nil }

    /// Removes ``keys`` after they were passed to SRTP. The last copy of them wipes their memory.
    package func discardKeys() {
        keys = nil
    }

    // MARK: Input

    /// Starts the handshake. The client sends its first flight, the server waits.
    package func start(now: Instant) {
        guard state == .new else { return }
        state = .handshaking
        handshakeDeadline = now.advanced(by: context.configuration.handshakeLimit)
        transport.timer.now = now
        advance()
    }

    /// Sets the retransmission timeout of flights to a little more than the path's round-trip time (RFC 6347 §4.2.4.1),
    /// if that is less than ``DTLSConfiguration/initialRetransmission``.
    package func setRoundTripTime(_ time: Duration) {
        transport.timer.expectAnswers(within: max(Self.shortestRetransmission, time + max(time / 8, .milliseconds(15))))
    }

    /// Records that pending datagrams can be sent only now: the timer of a flight that waited for this starts now.
    package func pathOpened(now: Instant) {
        guard hasTransmits, transport.hasFlightInAir else { return }
        transport.timer.now = now
        transport.timer.start()
    }

    /// Records that the peer has completed the handshake, for example because its media use the keys.
    package func peerIsThrough() {
        lastFlight = nil
    }

    /// Processes a datagram. A datagram that is not DTLS is counted and dropped. If a datagram ends the connection,
    /// ``state`` shows it. An unauthenticated alert ends a handshake only if two seconds of silence follow it.
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
                // RFC 6347 §4.2.4: the peer retransmits a flight because it lacks our answer.
                statistics.retransmissions += 1
                transport.repeatFlight()
            }
        }
    }

    /// Records an unauthenticated alert. It counts only if the peer is silent from then on, as a peer that has closed
    /// is.
    private func record(unprovenAlert code: UInt8, isFatal: Bool, now: Instant) {
        statistics.unprovenAlerts += 1
        // Before a flight of ours is sent, the peer's silence means nothing.
        guard state == .handshaking, !isHandshakeDone, suspicion == nil, transport.timer.deadline != nil else { return }
        guard isFatal || code == Self.closeNotify else { return }
        suspicion = Suspicion(code: code, ends: now.advanced(by: Self.alertPatience))
    }

    /// Retransmits the current flight if it is due, and fails a handshake that took too long. Early calls have no
    /// effect.
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

    /// Closes the connection. The peer receives a `close_notify` if the connection is encrypted already.
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

    /// The time of the next ``handleTimeout(now:)``; nil for never.
    package var nextDeadline: Instant? {
        guard !isHandshakeDone, state == .handshaking else { return lastFlight?.due }
        var deadline = handshakeDeadline
        if let retransmission = transport.timer.deadline { deadline = min(deadline ?? retransmission, retransmission) }
        // If it requires more retransmissions, those are due first.
        if let suspicion, suspicion.retransmissions >= Self.alertRetransmissions {
            deadline = min(deadline ?? suspicion.ends, suspicion.ends)
        }
        return deadline
    }

    /// Whether ``pollTransmit()`` has a datagram to return.
    package var hasTransmits: Bool { !transport.outgoing.isEmpty }

    /// Returns the next datagram to send; nil when there is none.
    package func pollTransmit() -> [UInt8]? {
        guard !transport.outgoing.isEmpty else { return nil }
        let datagram = transport.outgoing.removeFirst()
        statistics.datagramsSent += 1
        statistics.bytesSent += UInt64(datagram.count)
        return datagram
    }

    // MARK: Negotiated values

    /// The values that OpenSSL provided before it was released.
    private var agreed: (profile: SRTPProfile?, cipherSuite: String?, version: String?)

    /// The peer's certificate in DER, after the handshake.
    package private(set) var peerCertificate: [UInt8]?

    /// The SHA-256 fingerprint of the peer's certificate, after the handshake.
    package var peerFingerprint: Fingerprint? { peerCertificate.map { Fingerprint(ofCertificate: $0) } }

    /// The negotiated profile, even if the keys are not available yet.
    package var profile: SRTPProfile? {
        guard let ssl else { return agreed.profile }
        guard isHandshakeDone, let selected = SSL_get_selected_srtp_profile(ssl) else { return nil }
        return UInt16(exactly: selected.pointee.id).flatMap(SRTPProfile.init)
    }

    /// The cipher suite's name in IANA's registry, as in `dtlsCipher` of webrtc-stats.
    package var cipherSuite: String? {
        guard let ssl else { return agreed.cipherSuite }
        guard isHandshakeDone, let cipher = SSL_get_current_cipher(ssl), let name = SSL_CIPHER_standard_name(cipher)
        else { return nil }
        return String(cString: name)
    }

    /// The protocol version on the wire, as in `tlsVersion` of webrtc-stats: `FEFD` for DTLS 1.2.
    package var version: String? {
        guard let ssl else { return agreed.version }
        return isHandshakeDone ? String(SSL_version(ssl), radix: 16, uppercase: true) : nil
    }

    // MARK: Implementation

    private var isLive: Bool {
        switch state {
        case .handshaking, .connected: true
        case .new, .failed, .closed: false
        }
    }

    /// The minimum size of a protected record: the explicit nonce and the tag of the current or just negotiated suite
    /// (RFC 5288 §3, RFC 7905 §2), or the initialization vector and a block for suites without them (RFC 5246
    /// §6.2.3.2).
    private var shortestProtectedRecord: Int? {
        guard let ssl else { return DTLSAlerts.shortestRecordByteCount }
        guard let suite = SSL_get_pending_cipher(ssl) ?? SSL_get_current_cipher(ssl) else { return nil }
        return switch SSL_CIPHER_get_cipher_nid(suite) {
        case NID_chacha20_poly1305: 16
        case NID_aes_128_gcm, NID_aes_256_gcm: DTLSAlerts.shortestRecordByteCount
        default: 32
        }
    }

    /// Lets OpenSSL process its input.
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
            // Retransmissions of the last flight use the datagrams as they were sent.
            SSL_certs_clear(ssl)
            verifyPeer()
        }
        if isLive { readRecords() }
    }

    /// Releases the buffers of two records, 33 kilobytes. After the handshake, records are rare, and OpenSSL allocates
    /// the buffers again for them.
    private func releaseBuffers() {
        if isHandshakeDone { SSL_free_buffers(ssl) }
    }

    /// Reads to the end of the datagram: alerts, and retransmissions of the peer's last flight, which OpenSSL answers
    /// with ours. Application data has no use here and is counted.
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

    /// Handles a result other than success.
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

    /// Returns the mismatch in the deciding hash function, so that people can compare both fingerprints.
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
        // Sessions are not resumed, so that the last flight is always the server's.
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

/// The counts of a DTLS connection.
package struct DTLSStatistics: Hashable, Sendable {
    /// The number of datagrams received.
    package internal(set) var datagramsReceived: UInt64 = 0
    /// The number of bytes received.
    package internal(set) var bytesReceived: UInt64 = 0
    /// The number of received datagrams that were not DTLS records, or arrived before the start or after the end.
    package internal(set) var datagramsDiscarded: UInt64 = 0
    /// The number of datagrams sent.
    package internal(set) var datagramsSent: UInt64 = 0
    /// The number of bytes sent.
    package internal(set) var bytesSent: UInt64 = 0
    /// The number of flights that were retransmitted because no answer arrived in time.
    package internal(set) var retransmissions: UInt64 = 0
    /// The number of unauthenticated alerts, which anyone can have sent.
    package internal(set) var unprovenAlerts: UInt64 = 0
    /// The number of the peer's alerts, including warnings and `close_notify`.
    package internal(set) var alertsReceived: UInt64 = 0
    /// The number of records of application data, which this library does not use.
    package internal(set) var applicationDataDiscarded: UInt64 = 0
}
