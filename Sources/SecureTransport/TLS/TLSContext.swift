internal import RTCShareCOpenSSL

/// The shared part of TLS connections: the trusted certificates of a client, or the certificate of a server.
///
/// `@unchecked Sendable`: an `SSL_CTX` does not change after `init`, and OpenSSL counts its references and guards its
/// caches with its own locks.
package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Creates a client's context, which trusts the certificates in a PEM file, or those of the system.
    package convenience init(trusting file: String?) throws(TLSError) {
        try self.init()
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        if let file {
            guard SSL_CTX_load_verify_locations(pointer, file, nil) == 1 else {
                OpenSSLError.clear()
                throw .unreadableTrustRoots(path: file)
            }
        } else {
            SSL_CTX_set_default_verify_paths(pointer)
            OpenSSLError.clear()
        }
    }

    /// Creates a server's context from PEM files: its certificate with the certificates of its issuers, and the
    /// unencrypted key.
    package convenience init(certificateFile: String, keyFile: String) throws(TLSError) {
        try self.init()
        // Without this callback OpenSSL prompts for a pass phrase at the terminal.
        SSL_CTX_set_default_passwd_cb(pointer, Certificate.refuseToAsk)
        try serve(
            SSL_CTX_use_certificate_chain_file(pointer, certificateFile) == 1
                && SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1)
    }

    /// Creates a server's context.
    package convenience init(_ certificate: Certificate) throws(TLSError) {
        try self.init()
        let x509 = try Self.read { () throws(CertificateError) in
            try Certificate.readCertificate(certificate.certificatePEM)
        }
        let key = try Self.read { () throws(CertificateError) in try Certificate.readKey(certificate.privateKeyPEM) }
        OpenSSLError.clear()
        try serve(
            SSL_CTX_use_certificate(pointer, x509.pointer) == 1 && SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1)
    }

    /// Creates a context for TLS 1.2 and 1.3 with OpenSSL's cipher suites that have forward secrecy and AEAD.
    private init() throws(TLSError) {
        OpenSSLError.clear()
        guard let pointer = SSL_CTX_new(TLS_method()) else {
            throw .libraryFailure(operation: "SSL_CTX_new", reason: OpenSSLError.takeReason())
        }
        self.pointer = pointer
        guard copenssl_ctx_set_tls12_or_later(pointer) == 1,
            SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
        else { throw .libraryFailure(operation: "setting up TLS", reason: OpenSSLError.takeReason()) }
        copenssl_ctx_set_stream_options(pointer)
    }

    deinit { SSL_CTX_free(pointer) }

    /// The end of the validity of a server's certificate, in seconds since 1970-01-01 UTC. Nil for a client.
    package var notAfter: Int64? {
        guard let certificate = SSL_CTX_get0_certificate(pointer) else { return nil }
        return Certificate.unixSeconds(X509_get0_notAfter(certificate))
    }

    private static func read<Handle: ~Copyable>(
        _ body: () throws(CertificateError) -> Handle
    ) throws(TLSError) -> Handle {
        do throws(CertificateError) {
            return try body()
        } catch {
            throw .unusableCertificate(reason: error.description)
        }
    }

    private func serve(_ hasCertificate: Bool) throws(TLSError) {
        guard hasCertificate, SSL_CTX_check_private_key(pointer) == 1 else {
            throw .unusableCertificate(reason: OpenSSLError.takeReason())
        }
        SSL_CTX_set_alpn_select_cb(pointer, chooseHTTP, nil)
    }
}

/// A callback that selects HTTP/1.1 from the client's list of protocols, each with its length (RFC 7301 §3.1); none if
/// it is not in the list.
private let chooseHTTP:
    @convention(c) (
        OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
        UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, chosen, chosenCount, offered, offeredCount, _ in
        var rest = UnsafeBufferPointer(start: offered, count: Int(offeredCount))[...]
        while let count = rest.first.map(Int.init), count < rest.count {
            let name = rest.dropFirst().prefix(count)
            if name.elementsEqual("http/1.1".utf8) {
                chosen?.pointee = offered?.advanced(by: name.startIndex)
                chosenCount?.pointee = UInt8(count)
                return SSL_TLSEXT_ERR_OK
            }
            rest = rest.dropFirst(1 + count)
        }
        return SSL_TLSEXT_ERR_NOACK
    }
