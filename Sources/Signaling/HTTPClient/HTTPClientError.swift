internal import FoundationEssentials
internal import RTCShareCCURL
package import RTCShareWireFormat
internal import Synchronization

/// The reason why a server did not answer.
public enum HTTPClientError: Error, Hashable, Sendable {
    /// libcurl can't be used.
    case unavailable
    /// The request was canceled.
    case cancelled
    /// The server can't be reached, for this reason.
    case unreachable(String, String)
    /// The server's certificate is not issued by a trusted authority.
    case certificate(String)
    /// The TLS connection failed before the certificate was checked.
    case noTLS(String)
    /// The server redirects in circles, or to an invalid URL.
    case redirection(String)
    /// The server redirects to another one, to which nothing is sent for this reason.
    case redirectionRefused(String, to: String, String)
}

extension HTTPClientError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension HTTPClientError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .unavailable: "libcurl can't be used on this machine"
        case .cancelled: "the request was cancelled"
        case .unreachable(let host, let reason):
            Explanation("can't reach \(host): \(reason)", remedy: "check the address, and that the server runs")
        case .certificate(let host):
            Explanation(
                "the certificate of \(host) is not trusted: it may be self-signed",
                remedy: "save the server's certificate in a file, and name the file in SSL_CERT_FILE")
        case .noTLS(let host):
            Explanation(
                "can't reach \(host): no TLS connection",
                remedy: "check the port, or use http:// if the server has no certificate")
        case .redirection(let host): Explanation("\(host) redirects in a circle", remedy: "check the URL")
        case .redirectionRefused(let host, let other, let reason):
            Explanation(
                "\(host) redirects to \(other), which is not followed: \(reason)",
                remedy: "give the URL of that server, if it is the right one")
        }
    }
}
