internal import RTCShareCOpenSSL

/// What connections of TLS have in common: whom a client trusts, or who a server is.
///
/// `@unchecked Sendable`: nothing of an `SSL_CTX` is changed after `init`, and OpenSSL counts its references and keeps its
/// caches under locks of its own.
package final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer

    /// A client's, which trusts the certificates in a file of PEM, or those that the system comes with.
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

    /// A server's with files in PEM: its certificate, with those that it is signed by, and the key, which is not encrypted.
    package convenience init(certificateFile: String, keyFile: String) throws(TLSError) {
        try self.init()
        // Without it OpenSSL asks for a pass phrase at the terminal.
        SSL_CTX_set_default_passwd_cb(pointer, Certificate.refuseToAsk)
        try serve(
            SSL_CTX_use_certificate_chain_file(pointer, certificateFile) == 1
                && SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1)
    }

    /// A server's.
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

    /// TLS 1.2 and 1.3, and of OpenSSL's cipher suites those with forward secrecy and AEAD.
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

/// Of the protocols that a client offers, each behind its length (RFC 7301 §3.1), HTTP/1.1; none where it is not among them.
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
