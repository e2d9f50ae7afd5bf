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
    /// What failed, why, and what to try.
    public var description: String { words(naming: \.description) }

    /// The same in the words of a program that has names of its own for what is to be set.
    package func words(naming name: (NetworkAdvice.Setting) -> String) -> String {
        switch self {
        case .portTaken(let address):
            "UDP port \(address) is taken by another program; end that program, or choose another \(name(.port)) (and make "
                + "a new offer, where an offer names this one)"
        case .addressUnusable(let address, let reason):
            "can't use the address \(address): \(reason)"
        case .noAddress:
            "no network interface has a usable address; bring one up, or give one with \(name(.address))"
        case .unreachable(let facts): ConnectivityReport.text(for: facts, naming: name)
        case .insecure(let reason):
            "no secure connection to the peer came about: \(reason)"
        case .noPendingOffer:
            "no offer waits for an answer: each is answered once; make one with createOffer()"
        case .lost:
            "the peer stopped answering, and consent to send to it ran out (RFC 7675); its program or its network ended: "
                + "make a new offer to share again"
        }
    }
}
