/// The reason why a TLS connection failed or ended.
package enum TLSError: Error, Hashable, Sendable {
    /// The file of trusted certificates can't be read, or contains none.
    case unreadableTrustRoots(path: String)
    /// The server's certificate or its key can't be used.
    case unusableCertificate(reason: String)
    /// The client does not know which host the certificate must name.
    case unknownHost
    /// No trusted authority has signed the server's certificate.
    case untrusted(reason: String)
    /// The certificate belongs to another host.
    case otherHost
    /// The peer's bytes are not TLS.
    case notTLS
    /// The stream ended during the handshake.
    case closedInHandshake
    /// The stream ended without a `close_notify` (RFC 8446 §6.1): data may be missing.
    case cut
    /// The negotiation failed, or received data was not authentic.
    case failed(reason: String)
    /// OpenSSL failed.
    case libraryFailure(operation: String, reason: String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadableTrustRoots(let path):
            "can't read certificates from \(path): it is not there, or not in PEM form"
        case .unusableCertificate(let reason): "the certificate or its key can't be used: \(reason)"
        case .unknownHost: "the host that the certificate must name is not known"
        case .untrusted(let reason):
            "the server's certificate is not trusted (\(reason)): if it is your own, name its file in SSL_CERT_FILE"
        case .otherHost:
            "the server's certificate names another host than the URL: use the host name of the certificate"
        case .notTLS: "the server does not use TLS on this port: use turn: or another port"
        case .closedInHandshake: "the peer ended the TLS handshake"
        case .cut: "the peer closed the connection"
        case .failed(let reason): "TLS failed: \(reason)"
        case .libraryFailure(let operation, let reason): "\(operation) failed: \(reason)"
        }
    }
}
