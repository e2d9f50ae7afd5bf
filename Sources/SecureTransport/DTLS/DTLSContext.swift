internal import RTCShareCOpenSSL
internal import RTCShareLocks

/// Which end of a DTLS handshake this side is; `a=setup` decides (RFC 5763 §5).
package enum DTLSRole: String, Hashable, Sendable {
    /// Sends the first flight: `a=setup:active`.
    case client
    /// Waits for the first flight: `a=setup:passive`.
    case server
}

/// How DTLS is spoken.
package struct DTLSConfiguration: Hashable, Sendable {
    /// Who this side is.
    package var certificate: Certificate
    /// SRTP profiles to agree on, the preferred one first. As a server the order here decides.
    package var profiles: [SRTPProfile]
    /// The largest datagram to send, in bytes of UDP payload.
    package var maximumDatagramByteCount: Int
    /// When a flight is sent again for the first time; doubled each time after (RFC 6347 §4.2.4.1).
    ///
    /// RFC 6347 starts at a second for the sake of busy servers. A lost first flight is what the user waits for: on a path
    /// whose round trip is longer each flight leaves twice, and where ICE has measured a shorter one just before,
    /// ``DTLSConnection/setRoundTripTime(_:)`` has flights wait for less.
    package var initialRetransmission: Duration
    /// The most that passes between two transmissions of a flight.
    package var maximumRetransmission: Duration
    /// How long a handshake may take from its start.
    package var handshakeLimit: Duration
    /// How often the server sends its last flight again, as it was, unless the peer is known to have it
    /// (``DTLSConnection/peerIsThrough()``). Nothing answers this flight: by RFC 6347 §4.2.4 the client's timer alone brings
    /// it again.
    package var lastFlightRepetitions = 0

    /// The defaults: GCM first, 1200 bytes, 100 ms doubled up to 3 s, 30 s in all.
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

/// What the connections of one certificate have in common.
package final class DTLSContext: Sendable {
    /// What it was made from.
    package let configuration: DTLSConfiguration
    private let library: Library

    var pointer: OpaquePointer { library.pointer }

    /// A context with a certificate, ready for any number of connections.
    package init(_ configuration: DTLSConfiguration) throws(DTLSError) {
        self.configuration = configuration
        library = try Library.speaking(configuration.profiles)
    }

    /// Has a connection show the certificate. It is read anew each time, and is the connection's alone: once it has been
    /// shown it takes no more memory, where a room has thousands of connections.
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

/// OpenSSL's `SSL_CTX`, of which a process has one for each list of profiles: some fifteen kilobytes, and costly to make.
///
/// `@unchecked Sendable`: nothing of an `SSL_CTX` is changed after `init`, and OpenSSL counts its references and keeps
/// its caches under locks of its own.
private final class Library: @unchecked Sendable {
    let pointer: OpaquePointer

    private static let known = Locked<[[SRTPProfile]: Library]>([:])

    /// The one that offers these profiles.
    static func speaking(_ profiles: [SRTPProfile]) throws(DTLSError) -> Library {
        try known.withLock { known throws(DTLSError) in
            if let library = known[profiles] { return library }
            let library = try Library(profiles)
            known[profiles] = library
            return library
        }
    }

    /// AEAD with forward secrecy; the last two for peers that have no GCM. An RSA suite is of use only as a client,
    /// for a server with an RSA certificate (RFC 8827 §6.5).
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
        // The last one returns 0 for success.
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

/// Asked by OpenSSL instead of building a chain: a WebRTC certificate is signed by itself, and what vouches for it is
/// its fingerprint in the session description (RFC 8827 §6.5). A mismatch is told to the peer as `bad_certificate`
/// (RFC 8122 §6.2). With no description yet, the handshake goes on and ``DTLSConnection`` holds the keys back.
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
