package import RTCSharePeerConnection
package import RTCShareWireFormat

/// The experience of a viewer who opens a link on this machine: whether the page answers, and which kinds of routes to
/// the share work.
package struct LinkDiagnosis: Sendable, Encodable {
    /// The server of the link, which serves the page and starts sessions.
    package struct Page: Sendable, Encodable {
        /// A reason why the server can't be reached that this network, or the share's, determines.
        package enum Obstacle: String, Sendable, Encodable {
            /// The host name has no address.
            case nameUnknown
            /// The host rejects TCP connections to the port.
            case refused
            /// Nothing answers.
            case silent
            /// This machine has no route to the host.
            case noRoute
        }

        /// The host in the link.
        package var host: String
        /// The port.
        package var port: Int
        /// The IP address of the server; nil if it did not answer.
        package var address: String?
        /// The time until its answer, in milliseconds.
        package var milliseconds: Double?
        /// The network's obstacle; nil for another reason.
        package var obstacle: Obstacle?
        /// The reason why nobody can join; nil if it is possible.
        package var error: String?
        /// The remedy for the error, if there is one.
        package var remedy: String?

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// The result for a kind of route.
    package struct Route: Sendable, Encodable {
        /// The kind of route.
        package var kind: RouteKind
        /// The share's addresses of this kind that a viewer receives, or the URLs of its TURN servers. Empty if the share
        /// does not offer such routes.
        package var targets: [String]
        /// Whether the targets are all valid only inside the share's network.
        package var isPrivate: Bool
        /// Whether media can be sent.
        package var works = false
        /// The reason why the route does not work; nil if it works, or is not offered.
        package var error: String?
        /// The addresses in use.
        package var local: String?
        package var remote: String?
        /// The TURN server in use, and the transport to it.
        package var relay: String?
        package var relayTransport: String?
        /// The round trip in milliseconds.
        package var milliseconds: Double?
        /// The lower bound of the bitrate that the route carries; nil if the share sent nothing.
        package var bitsPerSecond: Int64?

        /// Whether the share offers such a route.
        package var isOffered: Bool { !targets.isEmpty }

        package init(_ kind: RouteKind, addresses: [TransportAddress]) {
            self.kind = kind
            targets = addresses.map(\.description)
            isPrivate = !addresses.isEmpty && addresses.allSatisfy(\.ip.isPrivate)
        }

        package init(relays: [String]) {
            kind = .relay
            targets = relays
            isPrivate = false
        }

        /// Records the pair that connects to the share.
        package mutating func connect(over selection: ConnectivityFacts.Selection, rate: DataRate?) {
            works = true
            local = selection.local.address.description
            remote = selection.remote.address.description
            (relay, relayTransport) = (selection.relay, selection.relayTransport)
            milliseconds = selection.roundTripTime?.milliseconds
            bitsPerSecond = rate?.bitsPerSecond
        }

        /// Records that no pair worked.
        package mutating func fail(_ facts: ConnectivityFacts) {
            let silent = facts.servers.filter { !$0.hasAnswered }.map(\.text)
            error =
                if let pair = facts.pairs.first {
                    ConnectivityReport.line(for: pair)
                } else if kind == .relay, let server = silent.first {
                    server
                } else {
                    "no address of this machine has the same version of IP, or a route"
                }
        }
    }

    /// The link without its secret.
    package var link: String
    /// This machine's addresses for media.
    package var addresses: [String] = []
    /// The server of the link.
    package var page: Page
    /// Whether the presenter must admit viewers.
    package var needsAdmission = false
    /// The results, in the order of preference. Empty if nobody could join.
    package var routes: [Route] = []
    /// The time for which the bitrate of each route was measured.
    package var measuringTime = Duration.seconds(3)
    /// The advice.
    package var advice: [NetworkAdvice] { LinkAdvice.lines(for: self) }
    /// Whether a picture arrives over one of the routes.
    package var works: Bool { routes.contains(where: \.works) }

    package init(link: String, page: Page) {
        self.link = link
        self.page = page
    }

    private enum CodingKeys: String, CodingKey {
        case link, addresses, page, needsAdmission, routes, works
    }

    /// Encodes everything except the advice, whose words depend on the program.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(link, forKey: .link)
        try container.encode(addresses, forKey: .addresses)
        try container.encode(page, forKey: .page)
        try container.encode(needsAdmission, forKey: .needsAdmission)
        try container.encode(routes, forKey: .routes)
        try container.encode(works, forKey: .works)
    }

    /// Returns the result for a kind of route; nil if it was not examined.
    func route(_ kind: RouteKind) -> Route? { routes.first { $0.kind == kind } }
}
