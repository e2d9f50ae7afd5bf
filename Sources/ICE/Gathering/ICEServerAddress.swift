package import RTCShareSTUN
package import RTCShareWireFormat

/// A STUN or TURN server by its address: the content of a `stun:` or `turn:` URL after its name was resolved.
package struct ICEServerAddress: Hashable, Sendable {
    /// The service that is requested from the server.
    package enum Kind: Hashable, Sendable {
        /// A mapped address of ours (RFC 8489).
        case stun
        /// A relayed address, with these credentials (RFC 8656).
        case turn(LongTermCredentials)
    }

    /// The service that is requested.
    package var kind: Kind
    /// The server's address.
    package var address: TransportAddress
    /// The transport protocol to the server.
    package var transport: TransportProtocol
    /// The server's URL, without credentials, for statistics and messages.
    package var url: String?

    /// Creates a server at an address. `url` must not contain credentials.
    package init(
        kind: Kind, address: TransportAddress, transport: TransportProtocol = .udp, url: String? = nil
    ) {
        self.kind = kind
        self.address = address
        self.transport = transport
        self.url = url
    }
}

extension ICEServerAddress: CustomStringConvertible {
    /// The URL, or a similar one made from the address. It never contains credentials.
    package var description: String {
        if let url { return url }
        let scheme = if case .stun = kind { "stun" } else { "turn" }
        switch transport {
        case .udp: return "\(scheme):\(address)"
        case .tcp: return "\(scheme):\(address)?transport=tcp"
        case .tls: return "\(scheme)s:\(address)?transport=tcp"
        }
    }
}

/// The routes that are allowed (W3C webrtc, `RTCIceTransportPolicy`).
public enum ICETransportPolicy: String, Hashable, Sendable, CaseIterable {
    /// All routes.
    case all
    /// Only routes through TURN servers: neither our descriptions nor our datagrams reveal another address to the peer.
    case relay
}

/// The reason why a server did not provide a candidate, or no longer does.
package enum ServerError: Error, Hashable, Sendable {
    /// A STUN server did not answer in time.
    case noAnswer
    /// The system could not send to the server.
    case unreachable
    /// The server answered with an error: its code and the start of its reason.
    case refused(code: Int, reason: String)
    /// The server's success response has no address.
    case malformedResponse
    /// The server was configured over a stream: STUN servers are used only over UDP, since the mapped address of a TCP
    /// connection does not help datagrams.
    case unsupportedTransport(TransportProtocol)
    /// This machine has no address of the server's IP version, or only a loopback address toward the Internet.
    case noLocalAddress
    /// The local address and port of a stored relayed address do not exist any more.
    case localAddressGone
    /// There are more servers and addresses than ``Limits/servers``.
    case overLimit
    /// The allocation of a relayed address failed or was lost.
    case relay(TURNError)
}

extension ServerError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    package var description: String {
        switch self {
        case .noAnswer: "no answer: check address and port, and whether a firewall drops UDP"
        case .unreachable: "the system has no route to it: check the network and the address"
        case .refused(let code, let reason): "the server refused with error \(code) \"\(reason)\""
        case .malformedResponse: "the server's answer holds no address: is it a STUN server?"
        case .unsupportedTransport(let transport):
            "STUN over \(transport.rawValue.uppercased()) finds no candidate for media: use a stun: URL without it"
        case .noLocalAddress:
            "no address of this machine can reach it: it is on the loopback interface, or has another IP version"
        case .localAddressGone:
            "the local address that it relayed for is not there: connect to the same network again"
        case .overLimit: "more servers than are asked at once: name fewer"
        case .relay(let error): error.description
        }
    }
}

/// A server's failure to provide a candidate.
package struct ServerFailure: Hashable, Sendable, CustomStringConvertible {
    /// The server.
    package let server: ICEServerAddress
    /// The base of the request; nil if no base can reach the server.
    package let base: TransportAddress?
    /// The reason.
    package let error: ServerError

    /// The server and the reason, such as `turn:192.0.2.1:3478: no answer …`.
    package var description: String { "\(server): \(error)" }
}

/// A server's result for one base, for people and statistics.
package struct ServerReport: Hashable, Sendable {
    /// The outcome of the requests to the server.
    package enum Outcome: Hashable, Sendable {
        /// The server has not answered yet.
        case waiting
        /// The server provided the requested address.
        case answered
        /// The server did not provide the address, or no longer does.
        case failed(ServerError)
    }

    /// The server.
    package let server: ICEServerAddress
    /// The base of the requests; nil if no base can reach the server.
    package let base: TransportAddress?
    /// The outcome of the requests.
    package let outcome: Outcome
    /// The mapped address of the base that the server sees.
    package let mappedAddress: TransportAddress?
    /// The relayed address.
    package let relayedAddress: TransportAddress?
    /// The granted lifetime of the relayed address.
    package let lifetime: Duration?
    /// The latest round-trip time of a request that was sent once.
    package let roundTripTime: Duration?
    /// The server to which this server redirected us (RFC 8489 §10).
    package let alternateServer: TransportAddress?
}

extension ServerReport: CustomStringConvertible {
    /// A description such as `turn:192.0.2.1:3478 from 10.0.0.5:4000: relays from 192.0.2.1:50000, sees
    /// 198.51.100.7:4000`.
    package var description: String {
        var text = "\(server)"
        if let base { text += " from \(base)" }
        if let alternateServer { text += " at \(alternateServer)" }
        switch outcome {
        case .waiting: text += ": no answer yet"
        case .failed(let error): text += ": \(error)"
        case .answered:
            let parts = [
                relayedAddress.map { "relays from \($0)" }, mappedAddress.map { "sees \($0)" },
                lifetime.map { "for \(Int($0.seconds)) s" },
                roundTripTime.map { "round trip \(Int($0.milliseconds.rounded())) ms" },
            ].compactMap { $0 }
            text += ": " + parts.joined(separator: ", ")
        }
        return text
    }
}
