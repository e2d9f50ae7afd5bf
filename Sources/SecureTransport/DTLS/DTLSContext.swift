internal import RTCShareCOpenSSL
internal import RTCShareLocks

/// The role in a DTLS handshake, which `a=setup` determines (RFC 5763 §5).
package enum DTLSRole: String, Hashable, Sendable {
    /// The role that sends the first flight: `a=setup:active`.
    case client
    /// The role that waits for the first flight: `a=setup:passive`.
    case server
}

/// The configuration of DTLS.
package struct DTLSConfiguration: Hashable, Sendable {
    /// The certificate of this side.
    package var certificate: Certificate
    /// The SRTP profiles to negotiate, in order of preference. A server's order decides.
    package var profiles: [SRTPProfile]
    /// The maximum size of a sent datagram, in bytes of UDP payload.
    package var maximumDatagramByteCount: Int
    /// The initial retransmission timeout of a flight. It doubles with each retransmission (RFC 6347 §4.2.4.1).
    ///
    /// RFC 6347 starts at a second for the sake of busy servers. But the user waits for a first flight that was lost.
    /// On a path with a longer round trip each flight is sent twice. If ICE has measured a shorter one before,
    /// ``DTLSConnection/setRoundTripTime(_:)`` reduces the timeout.
    package var initialRetransmission: Duration
    /// The maximum retransmission timeout of a flight.
    package var maximumRetransmission: Duration
    /// The maximum duration of a handshake.
    package var handshakeLimit: Duration
    /// The number of times that the server retransmits its last flight, unless the peer is known to have it
    /// (``DTLSConnection/peerIsThrough()``). There is no answer to this flight: in RFC 6347 §4.2.4 only the client's
    /// timer causes its retransmission.
    package var lastFlightRepetitions = 0

    /// Creates a configuration with these defaults: GCM first, 1200 bytes, 100 ms doubled up to 3 s, 30 s in total.
    package init(
        certificate: Certificate, profiles: [SRTPProfile] = SRTPProfile.preferred,
        maximumDatagramByteCount: Int = 1200, initialRetransmission: Duration = .milliseconds(100),
        maximumRetransmission: Duration = .seconds(3), handshakeLimit: Duration = .seconds(30)
    ) {
        self.certificate = certificate
        self.profiles = profiles
        self.maximumDatagramByteCount = maximumDatagramByteCount
        self.initialRetransmission = initialRetransmission
        self.maximumRetransmission = maximumRetransmission
        self.handshakeLimit = handshakeLimit
    }
}

/// The shared part of all connections with one certificate.
package final class DTLSContext: Sendable {
    /// The configuration of the connections.
    package let configuration: DTLSConfiguration
    private let library: Library

    var pointer: OpaquePointer { library.pointer }

    /// Creates a context with a certificate for any number of connections.
    package init(_ configuration: DTLSConfiguration) throws(DTLSError) {
        self.configuration = configuration
        library = try Library.speaking(configuration.profiles)
    }

    /// Sets a connection's certificate. The certificate is parsed for each connection, which owns it: after the
    /// handshake it needs no more memory, which matters in a room with thousands of connections.
    func showCertificate(on ssl: OpaquePointer) throws(DTLSError) {
        let x509 = try Self.x509(of: configuration.certificate)
        let key = try Self.key(of: configuration.certificate)
        OpenSSLError.clear()
        guard SSL_use_certificate(ssl, x509.pointer) == 1, SSL_use_PrivateKey(ssl, key.pointer) == 1 else {
            throw .libraryFailure(operation: "setting the certificate", reason: OpenSSLError.takeReason())
        }
    }

    private static func x509(of certificate: Certificate) throws(DTLSError) -> X509Handle {
        do throws(CertificateError) {
            return try Certificate.readCertificate(certificate.certificatePEM)
        } catch {
            throw .libraryFailure(operation: "reading the certificate", reason: error.description)
        }
    }

    private static func key(of certificate: Certificate) throws(DTLSError) -> KeyHandle {
        do throws(CertificateError) {
            return try Certificate.readKey(certificate.privateKeyPEM)
        } catch {
            throw .libraryFailure(operation: "reading the private key", reason: error.description)
        }
    }
}

/// OpenSSL's `SSL_CTX`. A process has one for each list of profiles, since it takes some fifteen kilobytes and is slow
/// to make.
///
/// `@unchecked Sendable`: an `SSL_CTX` does not change after `init`, and OpenSSL counts its references and guards its
/// caches with its own locks.
private final class Library: @unchecked Sendable {
    let pointer: OpaquePointer

    private static let known = Locked<[[SRTPProfile]: Library]>([:])

    /// Returns the shared library context that offers these profiles.
    static func speaking(_ profiles: [SRTPProfile]) throws(DTLSError) -> Library {
        try known.withLock { known throws(DTLSError) in
            if let library = known[profiles] { return library }
            let library = try Library(profiles)
            known[profiles] = library
            return library
        }
    }

    /// The cipher suites: AEAD with forward secrecy, and at the end two for peers without GCM. An RSA suite is only
    /// useful to a client whose server has an RSA certificate (RFC 8827 §6.5).
    private static let cipherSuites = """
        ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:\
        ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384:\
        ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA
        """

    private init(_ profiles: [SRTPProfile]) throws(DTLSError) {
        OpenSSLError.clear()
        guard let pointer = SSL_CTX_new(DTLS_method()) else {
            throw .libraryFailure(operation: "SSL_CTX_new", reason: OpenSSLError.takeReason())
        }
        self.pointer = pointer
        let profiles = profiles.map(\.opensslName).joined(separator: ":")
        // The last function returns 0 for success.
        guard copenssl_ctx_set_dtls12_only(pointer) == 1,
            SSL_CTX_set_cipher_list(pointer, Self.cipherSuites) == 1,
            copenssl_ctx_set_groups(pointer, "X25519:P-256:P-384") == 1,
            SSL_CTX_set_tlsext_use_srtp(pointer, profiles) == 0
        else {
            throw .libraryFailure(operation: "setting up DTLS", reason: OpenSSLError.takeReason())
        }
        _ = copenssl_ctx_set_session_cache_off(pointer)
        copenssl_ctx_set_webrtc_options(pointer)
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(pointer, verifyPeerCertificate, nil)
    }

    deinit { SSL_CTX_free(pointer) }
}

/// OpenSSL calls this instead of building a chain: a WebRTC certificate is self-signed, and its fingerprint in the
/// session description authenticates it (RFC 8827 §6.5). The peer receives `bad_certificate` for a mismatch (RFC 8122
/// §6.2). If there is no description yet, the handshake continues and ``DTLSConnection`` withholds the keys.
private let verifyPeerCertificate: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
    guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let transport = DatagramBIO.of(SSL_get_rbio(OpaquePointer(ssl))),
        let x509 = X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    var derBytes = [UInt8](repeating: 0, count: Int(max(0, i2d_X509(x509, nil))))
    derBytes.withUnsafeMutableBufferPointer { buffer in
        var end = buffer.baseAddress
        i2d_X509(x509, &end)
    }
    if transport.accepts(certificate: derBytes) { return 1 }
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
}
