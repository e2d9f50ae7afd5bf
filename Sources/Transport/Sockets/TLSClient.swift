internal import NIOCore
internal import NIOPosix
internal import RTCShareMedia
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// The roots of trust of TLS connections to servers.
public enum TrustRoots: Sendable, Hashable {
    /// The system's certificates.
    case system
    /// Only those in a file of PEM certificates.
    case file(String)
}

/// TLS to a TURN server: the certificate must be valid and contain the host of the URL.
enum TLSClient {
    /// Creates the handler of a new connection to `host`, which is a name or an address.
    static func handler(host: String?, trustRoots: TrustRoots) throws(TLSError) -> TLSHandler {
        guard let host else { throw .unknownHost }
        let context =
            switch trustRoots {
            case .system: try TLSContext(trusting: nil)
            case .file(let path): try TLSContext(trusting: path)
            }
        return TLSHandler(try TLSConnection(to: host, isAddress: IPAddress(host) != nil, context))
    }
}

/// Returns descriptions of connections' errors.
package enum SocketFailure {
    package static func reason(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let refusal = error.connectionErrors.first?.error { return reason(of: refusal) }
            return "no connection: the name has no usable address"
        case let error as IOError: return systemMessage(error.errnoCode)
        case ChannelError.connectTimeout: return "no answer (a firewall may drop the packets)"
        default: return "\(error)"
        }
    }
}

/// TCP options for which SwiftNIO has no name.
enum TCPOption {
    /// `TCP_NOTSENT_LOWAT` of `linux/tcp.h`: the socket is writable while less than this is unsent in the kernel.
    static let notSentLowWater: CInt = 25
    /// `TCP_KEEPIDLE`: the seconds of silence after which the peer's system is asked whether it is there.
    static let keepaliveIdle: CInt = 4
    /// `TCP_USER_TIMEOUT`: the milliseconds for which sent bytes may stay without an acknowledgment.
    static let userTimeout: CInt = 18
}
