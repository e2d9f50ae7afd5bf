internal import RTCShareCOpenSSL

/// TLS 1.2 or 1.3 on a stream, without input or output of its own (RFC 8446).
///
/// The owner passes received bytes to ``receive(_:)`` and data to send to ``send(_:)``. After each of them, and after
/// ``start()`` and ``close()``, ``takeOutgoing()`` returns the bytes to write to the stream.
///
///     new ──start──▶ handshaking ──▶ connected ──close, close_notify──▶ closed
///                        └───────────────┴──────────────────────────▶ failed
package final class TLSConnection {
    /// The state of the connection.
    package enum State: Hashable, Sendable {
        case new
        case handshaking
        case connected
        /// This side closed the connection, or the peer did with a `close_notify`.
        case closed
        case failed(TLSError)
    }

    package private(set) var state = State.new
    private let ssl: OpaquePointer
    /// The received bytes and the bytes to write. `ssl` owns both.
    private let arriving: OpaquePointer
    private let leaving: OpaquePointer

    /// The maximum size of a record's content (RFC 8446 §5.1).
    private static let recordByteCount = 1 << 14

    /// Creates a client's connection to a host, whose name or address must be in the certificate.
    package convenience init(to host: String, isAddress: Bool, _ context: TLSContext) throws(TLSError) {
        try self.init(context)
        SSL_set_connect_state(ssl)
        // An address has no server name (RFC 6066 §3).
        let isSet =
            isAddress
            ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
            : SSL_set1_host(ssl, host) == 1 && copenssl_set_server_name(ssl, host) == 1
        SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard isSet else {
            throw .libraryFailure(operation: "naming the host", reason: OpenSSLError.takeReason())
        }
    }

    /// Creates a server's connection.
    package convenience init(serving context: TLSContext) throws(TLSError) {
        try self.init(context)
        SSL_set_accept_state(ssl)
    }

    private init(_ context: TLSContext) throws(TLSError) {
        OpenSSLError.clear()
        guard let ssl = SSL_new(context.pointer) else {
            throw .libraryFailure(operation: "SSL_new", reason: OpenSSLError.takeReason())
        }
        guard let arriving = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw .libraryFailure(operation: "BIO_new", reason: OpenSSLError.takeReason())
        }
        guard let leaving = BIO_new(BIO_s_mem()) else {
            BIO_free(arriving)
            SSL_free(ssl)
            throw .libraryFailure(operation: "BIO_new", reason: OpenSSLError.takeReason())
        }
        SSL_set_bio(ssl, arriving, leaving)
        (self.ssl, self.arriving, self.leaving) = (ssl, arriving, leaving)
    }

    deinit { SSL_free(ssl) }

    /// Starts the handshake, after which the client has bytes to send.
    package func start() {
        guard state == .new else { return }
        state = .handshaking
        advance()
    }

    /// Processes received bytes, and returns the peer's decrypted data.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard state == .handshaking || state == .connected, !bytes.isEmpty else { return [] }
        guard BIO_write(arriving, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count else {
            state = .failed(.libraryFailure(operation: "BIO_write", reason: OpenSSLError.takeReason()))
            return []
        }
        if state == .handshaking { advance() }
        return state == .connected ? readAll() : []
    }

    /// Encrypts data, if the connection is connected.
    package func send(_ bytes: UnsafeRawBufferPointer) {
        guard state == .connected, !bytes.isEmpty else { return }
        OpenSSLError.clear()
        // The output goes to memory, so that all of it is written.
        let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
        if result != bytes.count { examine(result) }
    }

    /// Returns the bytes to write to the stream since the previous call.
    package func takeOutgoing() -> [UInt8] {
        let size = Int(clamping: BIO_ctrl_pending(leaving))
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Int(BIO_read(leaving, buffer.baseAddress, Int32(clamping: size))))
        }
    }

    /// Closes the connection, and notifies the peer.
    package func close() {
        guard state == .new || state == .handshaking || state == .connected else { return }
        if state == .connected {
            SSL_shutdown(ssl)
            OpenSSLError.clear()
        }
        state = .closed
    }

    /// Handles the end of the stream.
    package func streamEnded() {
        switch state {
        case .new, .handshaking: state = .failed(.closedInHandshake)
        case .connected: state = .failed(.cut)
        case .closed, .failed: break
        }
    }

    private func advance() {
        OpenSSLError.clear()
        let result = SSL_do_handshake(ssl)
        if result == 1 { state = .connected } else { examine(result) }
    }

    private func readAll() -> [UInt8] {
        var text: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: Self.recordByteCount, alignment: 16) { memory in
            while state == .connected {
                OpenSSLError.clear()
                let result = SSL_read(ssl, memory.baseAddress, Int32(clamping: memory.count))
                guard result > 0 else {
                    examine(result)
                    return
                }
                text += memory.prefix(Int(result))
            }
        }
        return text
    }

    /// Handles a result other than success. If OpenSSL waits for more input, nothing changes.
    private func examine(_ result: Int32) {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        case SSL_ERROR_ZERO_RETURN: close()
        default: state = .failed(failure)
        }
    }

    private var failure: TLSError {
        let verification = Int32(clamping: SSL_get_verify_result(ssl))
        let code = ERR_GET_REASON(ERR_peek_error())
        let reason = OpenSSLError.takeReason()
        switch verification {
        case X509_V_OK:
            switch code {
            case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST: return .notTLS
            default: return .failed(reason: reason)
            }
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return .otherHost
        default: return .untrusted(reason: String(cString: X509_verify_cert_error_string(Int(verification))))
        }
    }
}
