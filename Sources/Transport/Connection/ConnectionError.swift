public import RTCSharePeerConnection
public import RTCShareWireFormat

/// Why a connection could not begin or go on.
public enum ConnectionError: Error, Sendable, Equatable {
    /// Another program has the port that the offer named.
    case portTaken(TransportAddress)
    /// A socket can't be bound to this address.
    case addressUnusable(TransportAddress, reason: String)
    /// No interface has an address that a peer could reach.
    case noAddress
    /// No path to the peer was found.
    case unreachable(ConnectivityFacts)
    /// The DTLS handshake failed or took too long, or the peer's certificate isn't the one that its description announced.
    case insecure(reason: String)
    /// There is no offer that an answer could be to.
    case noPendingOffer
    /// The peer stopped answering, longer ago than consent lasts (RFC 7675).
    case lost
}

extension ConnectionError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension ConnectionError: ExplainedError {
    /// What failed, and why; apart, what to try.
    package var explanation: Explanation { explanation(naming: \.description) }

    /// The same in the words of a program that has names of its own for what is to be set. Of a connection that found no
    /// path, the problem is a report of several lines.
    package func explanation(naming name: (NetworkAdvice.Setting) -> String) -> Explanation {
        switch self {
        case .portTaken(let address):
            Explanation(
                "another program uses UDP port \(address.port) of \(address.ip)",
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
