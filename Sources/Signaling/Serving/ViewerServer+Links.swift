public import RTCShareContentShare
internal import RTCShareWireFormat

/// A link that opens a share.
public struct ViewerLink: Hashable, Sendable, CustomStringConvertible {
    /// Whom it is of use to.
    public enum Reach: Hashable, Sendable {
        /// Everybody who reaches the public URL.
        case everywhere
        /// Who is on the network of this address, or under this name.
        case network
        /// This machine alone.
        case machine
    }

    /// Whom it is of use to.
    public let reach: Reach
    /// The link, with its secret.
    public let url: String

    /// The link.
    public var description: String { url }
}

extension ViewerServer {
    /// The links of the share, or of a subgroup of it, best first: `hosts` are the addresses and names of this machine.
    public nonisolated func links(hosts: [String], subgroup: Subgroup? = nil) -> [ViewerLink] {
        let secret: String
        if let token = configuration.token {
            guard let own = subgroup.map({ token.derived(for: $0.name) }) ?? token else { return [] }
            secret = "#" + own.secretText
        } else {
            secret = ""
        }
        var links: [ViewerLink] = []
        if let url = configuration.publicURL {
            links.append(ViewerLink(reach: .everywhere, url: url.description + secret))
        }
        let scheme = configuration.tls == nil ? "http" : "https"
        let path = configuration.basePath.map { $0 + "/" }.joined()
        for host in hosts {
            let address = IPAddress(host.prefix { $0 != "%" })
            let isOwn = host == "localhost" || address?.isLoopback == true
            // A zone is written so in a URL (RFC 6874 §2).
            let authority = address?.isV4 == false ? "[\(host.replacing("%", with: "%25"))]" : host
            links.append(
                ViewerLink(
                    reach: isOwn ? .machine : .network, url: "\(scheme)://\(authority):\(port)/\(path)\(secret)"))
        }
        return links
    }
}
