/// Why there is no TLS connection, or no longer.
package enum TLSError: Error, Hashable, Sendable {
    /// The file of those that are to be trusted can't be read, or holds none.
    case unreadableTrustRoots(path: String)
    /// A server's certificate or its key can't be used.
    case unusableCertificate(reason: String)
    /// A client that was not told whom the certificate must name.
    case unknownHost
    /// No authority that is trusted vouches for the server's certificate.
    case untrusted(reason: String)
    /// It is another host's.
    case otherHost
    /// What the other side says is no TLS.
    case notTLS
    /// The stream ended in the handshake.
    case closedInHandshake
    /// The stream ended without the end having been told (RFC 8446 §6.1): something may be missing.
    case cut
    /// The two can't agree, or what came is none of the other side's.
    case failed(reason: String)
    /// OpenSSL could not do its part.
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
