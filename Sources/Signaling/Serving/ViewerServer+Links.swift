public import RTCShareContentShare
public import RTCShareWireFormat

/// A link that opens a share.
public struct ViewerLink: Hashable, Sendable, CustomStringConvertible {
    /// The network in which a link works.
    public enum Reach: Hashable, Sendable {
        /// All clients that reach the public URL or the outside address.
        case everywhere
        /// The network in which this address or name is reachable.
        case network
        /// Only this machine.
        case machine
    }

    /// The network in which the link works.
    public let reach: Reach
    /// The link's URL with the access token.
    public let url: String

    /// The URL.
    public var description: String { url }
}

extension ViewerServer {
    /// Returns the links of the share or of a subgroup, best first. `hosts` are the addresses and names of this
    /// machine, and `outside` is the address from which a router forwards to the page.
    public nonisolated func links(
        hosts: [String], outside: TransportAddress? = nil, subgroup: Subgroup? = nil
    ) -> [ViewerLink] {
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
        if let outside {
            links.append(ViewerLink(reach: .everywhere, url: "\(scheme)://\(outside)/\(path)\(secret)"))
        }
        for host in hosts {
            let address = IPAddress(host.prefix { $0 != "%" })
            let isOwn = host == "localhost" || address?.isLoopback == true
            // A URL has the zone in this form (RFC 6874 §2).
            let authority = address?.isV4 == false ? "[\(host.replacing("%", with: "%25"))]" : host
            links.append(
                ViewerLink(
                    reach: isOwn ? .machine : .network, url: "\(scheme)://\(authority):\(port)/\(path)\(secret)"))
        }
        return links
    }
}
