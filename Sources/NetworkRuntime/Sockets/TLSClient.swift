internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import RTCShareWireFormat

/// Whom TLS connections to servers trust.
public enum TrustRoots: Sendable, Hashable {
    /// The certificates that the system comes with.
    case system
    /// Those in a file of PEM certificates, and no others.
    case file(String)
}

/// TLS to a TURN server: the certificate must be valid and name the host of the URL.
enum TLSClient {
    /// The handler of a new connection to `host`, which is a name or an address.
    static func handler(host: String?, trustRoots: TrustRoots) throws -> NIOSSLClientHandler {
        guard let host else { throw TLSFailure.unknownHost }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        if case .file(let path) = trustRoots {
            do {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
            } catch {
                throw TLSFailure.unreadableTrustRoots(path)
            }
        }
        // Of an address there is no server name (RFC 6066 §3); the certificate's addresses are compared with where the
        // connection goes.
        return try NIOSSLClientHandler(
            context: NIOSSLContext(configuration: configuration), serverHostname: IPAddress(host) == nil ? host : nil)
    }
}

/// What keeps a TLS connection from being tried.
enum TLSFailure: Error, CustomStringConvertible {
    case unknownHost
    case unreadableTrustRoots(String)

    var description: String {
        switch self {
        case .unknownHost: "nobody has said whom the certificate must name"
        case .unreadableTrustRoots(let path): "\(path) holds no certificates in PEM form, or can't be read"
        }
    }
}

/// Errors of connections in words.
enum SocketFailure {
    static func reason(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let refusal = error.connectionErrors.first?.error { return reason(of: refusal) }
            return "no connection: the name has no usable address"
        case let error as IOError: return String(cString: strerror(error.errnoCode)).lowercased()
        case ChannelError.connectTimeout: return "no answer; a firewall may drop it"
        case let error as NIOSSLError: return reason(ofTLS: error)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the server's certificate names another host than the URL: use the name that it is for"
        case let error as BoringSSLError: return handshakeReason("\(error)")
        default: return "\(error)"
        }
    }

    private static func reason(ofTLS error: NIOSSLError) -> String {
        switch error {
        case .handshakeFailed(let error): handshakeReason("\(error)")
        case .unableToValidateCertificate: "the server's certificate names another host than the URL"
        case .uncleanShutdown: "the other side cut the connection"
        default: "TLS failed: \(error)"
        }
    }

    private static func handshakeReason(_ text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return "the server's certificate is not valid, or its authority is none that is trusted here: for one of "
                + "your own, name its certificate in SSL_CERT_FILE"
        }
        if text.contains("WRONG_VERSION_NUMBER") {
            return "what answers there does not speak TLS: use turn: or another port"
        }
        if text.contains("EOF during handshake") { return "the server ended the TLS handshake" }
        return "the TLS handshake failed: \(text)"
    }
}

/// Options of TCP that SwiftNIO has no name for.
enum TCPOption {
    /// `TCP_NOTSENT_LOWAT` of `linux/tcp.h`: the socket is writable while less than this is unsent in the kernel.
    static let notSentLowWater: CInt = 25
}
