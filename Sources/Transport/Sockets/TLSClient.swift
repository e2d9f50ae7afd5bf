internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareMedia
internal import RTCShareSecureTransport
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

/// Errors of connections in words.
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

/// Options of TCP that SwiftNIO has no name for.
enum TCPOption {
    /// `TCP_NOTSENT_LOWAT` of `linux/tcp.h`: the socket is writable while less than this is unsent in the kernel.
    static let notSentLowWater: CInt = 25
}
