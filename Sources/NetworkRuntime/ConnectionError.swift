public import WireFormat

/// Why a connection could not begin or go on.
public enum ConnectionError: Error, Sendable, Equatable {
    /// Another program has the port that the offer named.
    case portTaken(TransportAddress)
    /// A socket can't be bound to this address.
    case addressUnusable(TransportAddress, reason: String)
    /// No interface has an address that a peer could reach.
    case noAddress
    /// A server's name has no address.
    case unresolvable(host: String)
    /// An `--ice-server` that isn't a STUN URL (RFC 7064).
    case invalidServer(String)
    /// No path to the peer was found; each line is one pair of addresses and its fate.
    case unreachable(pairs: [String])
    /// The DTLS handshake failed, or the peer's certificate isn't the one that its description announced.
    case insecure(reason: String)
    /// The peer stopped answering, longer ago than consent lasts (RFC 7675).
    case lost
}

extension ConnectionError: CustomStringConvertible {
    /// What failed, why, and what to try.
    public var description: String {
        switch self {
        case .portTaken(let address):
            "UDP port \(address) is taken by another program; end that program, or make a new offer with another --port"
        case .addressUnusable(let address, let reason):
            "can't use the address \(address): \(reason)"
        case .noAddress:
            "no network interface has a usable address; bring one up, or give one with --bind"
        case .unresolvable(let host):
            "the name \(host) has no address; check its spelling and the machine's DNS"
        case .invalidServer(let text):
            "\(text) is not a STUN server; write stun:HOST or stun:HOST:PORT"
        case .unreachable(let pairs) where pairs.isEmpty:
            "no address in the peer's description can be reached from the addresses of ours; share with --bind ADDRESS "
                + "of a network that both are in, or with --ice-server"
        case .unreachable(let pairs):
            (["no path to the peer was found; the pairs of addresses that were tried:"] + pairs.map { "  " + $0 }
                + [
                    "Is the peer running, and does it still wait for this answer? If it is in another network, make an "
                        + "offer with --ice-server stun:HOST; a firewall must let UDP pass."
                ])
                .joined(separator: "\n")
        case .insecure(let reason):
            "the peer could not be trusted: \(reason)"
        case .lost:
            "the peer stopped answering, and consent to send to it ran out (RFC 7675); its program or its network ended: "
                + "make a new offer to share again"
        }
    }
}
