package import RTCShareSTUN
package import RTCShareWireFormat

/// A STUN or TURN server by its address: what is left of a `stun:` or `turn:` URL once its name is resolved.
package struct ICEServerAddress: Hashable, Sendable {
    /// What the server is asked for.
    package enum Kind: Hashable, Sendable {
        /// What our address looks like from outside (RFC 8489).
        case stun
        /// A relayed address, for whom these credentials are (RFC 8656).
        case turn(LongTermCredentials)
    }

    /// What the server is asked for.
    package var kind: Kind
    /// Where it is.
    package var address: TransportAddress
    /// How it is asked.
    package var transport: TransportProtocol
    /// The URL that it came from, without credentials: for statistics and messages.
    package var url: String?

    /// A server at an address; `url` must hold no credentials.
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
    /// The URL, or the like of one made from the address. It never holds credentials.
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

/// Which paths may be taken (W3C webrtc, `RTCIceTransportPolicy`).
public enum ICETransportPolicy: String, Hashable, Sendable, CaseIterable {
    /// Any.
    case all
    /// Through TURN servers alone: neither our descriptions nor our datagrams show the peer another address.
    case relay
}

/// Why a server gave no candidate, or gives none any longer.
package enum ServerError: Error, Hashable, Sendable {
    /// A STUN server did not answer in time.
    case noAnswer
    /// The system could not send to it.
    case unreachable
    /// It answered with an error: its code and first words.
    case refused(code: Int, reason: String)
    /// A success response without an address.
    case malformedResponse
    /// STUN servers are asked over UDP alone: a mapped address of a TCP connection helps no datagram.
    case unsupportedTransport(TransportProtocol)
    /// This machine has no address of the server's IP version, or is to reach the internet from a loopback address.
    case noLocalAddress
    /// The address and port that a relayed address was asked for from are not there to take it up again.
    case localAddressGone
    /// More servers and addresses than ``Limits/servers``.
    case overLimit
    /// The relayed address could not be had, or was lost.
    case relay(TURNError)
}

extension ServerError: CustomStringConvertible {
    /// What happened, why, and what to do.
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

/// A server that gave nothing, or gives nothing any longer.
package struct ServerFailure: Hashable, Sendable, CustomStringConvertible {
    /// The server.
    package let server: ICEServerAddress
    /// The base that asked; nil where none could.
    package let base: TransportAddress?
    /// Why.
    package let error: ServerError

    /// `turn:192.0.2.1:3478: no answer …`.
    package var description: String { "\(server): \(error)" }
}

/// What a server answered to one base, for people and statistics.
package struct ServerReport: Hashable, Sendable {
    /// How far the server has come.
    package enum Outcome: Hashable, Sendable {
        /// It has not answered yet.
        case waiting
        /// It gave what it was asked for.
        case answered
        /// It gave nothing, or gives nothing any longer.
        case failed(ServerError)
    }

    /// The server.
    package let server: ICEServerAddress
    /// The base that asked; nil where none could.
    package let base: TransportAddress?
    /// How far it has come.
    package let outcome: Outcome
    /// What the server sees of the base.
    package let mappedAddress: TransportAddress?
    /// The address that it relays from.
    package let relayedAddress: TransportAddress?
    /// How long that was granted for, before it is extended.
    package let lifetime: Duration?
    /// The newest round trip of a request that was sent once.
    package let roundTripTime: Duration?
    /// Where the server sent us to instead (RFC 8489 §10).
    package let alternateServer: TransportAddress?
}

extension ServerReport: CustomStringConvertible {
    /// `turn:192.0.2.1:3478 from 10.0.0.5:4000: relays from 192.0.2.1:50000, sees 198.51.100.7:4000`.
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
