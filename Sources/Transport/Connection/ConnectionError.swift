public import RTCSharePeerConnection
public import RTCShareWireFormat

/// The reason why a connection could not start, or failed.
public enum ConnectionError: Error, Sendable, Equatable {
    /// Another program uses the port of the offer.
    case portTaken(TransportAddress, TransportProtocol = .udp)
    /// A socket can't be bound to this address.
    case addressUnusable(TransportAddress, reason: String)
    /// No interface has an address that a peer could reach.
    case noAddress
    /// No candidate pair works.
    case unreachable(ConnectivityFacts)
    /// The DTLS handshake failed or timed out, or the peer's certificate differs from the one in its description.
    case insecure(reason: String)
    /// There is no offer to which the answer could belong.
    case noPendingOffer
    /// The peer has not answered for longer than consent lasts (RFC 7675).
    case lost
}

extension ConnectionError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension ConnectionError: ExplainedError {
    /// The failure and its reason and, separately, a remedy.
    package var explanation: Explanation { explanation(naming: \.description) }

    /// Returns the explanation with a program's own names for settings. If no candidate pair works, the problem is a
    /// report of several lines.
    package func explanation(naming name: (NetworkAdvice.Setting) -> String) -> Explanation {
        switch self {
        case .portTaken(let address, let transport):
            Explanation(
                "another program uses \(transport.rawValue.uppercased()) port \(address.port) of \(address.ip)",
                remedy: "end that program, or choose another \(name(.port))")
        case .addressUnusable(let address, let reason):
            Explanation(
                "can't use the address \(address.port == 0 ? "\(address.ip)" : "\(address)"): \(reason)",
                remedy: "another address with \(name(.address))")
        case .noAddress:
            Explanation(
                "no network interface has a usable address", remedy: "connect to a network, or use \(name(.address))"
            )
        case .unreachable(let facts): Explanation(ConnectivityReport.text(for: facts, naming: name))
        case .insecure(let reason): "no secure connection to the peer: \(reason)"
        case .noPendingOffer:
            Explanation(
                "this answer belongs to no open offer: each offer takes one answer", remedy: "make a new offer")
        case .lost:
            Explanation(
                "the peer stopped answering: its program or its network has ended", remedy: "make a new offer")
        }
    }
}
