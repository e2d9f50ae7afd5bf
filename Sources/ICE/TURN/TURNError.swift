internal import RTCShareSTUN
package import RTCShareWireFormat

/// Why a TURN server gives no relayed address, or no longer. No case holds a password.
package enum TURNError: Error, Hashable, Sendable {
    /// Nothing came back.
    case unreachable(TransportProtocol)
    /// The connection ended, or could not be made, or a datagram could not be sent.
    case connectionLost(TransportProtocol)
    /// 401 for a request that bore credentials, or 441.
    case wrongCredentials(realm: String)
    /// The server's challenge lacks what the credentials are to be used with.
    case incompleteChallenge
    /// The challenge has lost what its nonce promises (RFC 8489 §9.2.5).
    case weakenedChallenge
    /// MD5 or SHA-256 is not available here.
    case hashUnavailable
    /// The server kept on refusing the nonces that it gave.
    case staleNonceAgain
    /// 403.
    case forbidden
    /// 437 for an Allocate request: the server still has an allocation for our port.
    case portInUse
    /// 437 later: the server no longer has the allocation.
    case allocationLost
    /// 486.
    case quotaReached
    /// 508.
    case serverFull
    /// 442.
    case unsupportedTransport
    /// 440.
    case unsupportedAddressFamily
    /// 300 from a server that another one sent us to, or without a usable address.
    case redirectedInCircles
    /// A success response without what it must hold.
    case malformedResponse
    /// Another error code, with the first words that the server gave.
    case refused(code: Int, reason: String)
}

extension TURNError {
    /// Why a challenge can't be met.
    init(_ error: ChallengeError) {
        switch error {
        case .incomplete: self = .incompleteChallenge
        case .weakened: self = .weakenedChallenge
        case .unavailable: self = .hashUnavailable
        }
    }
}

extension TURNError: CustomStringConvertible {
    /// What happened, why, and what to do.
    package var description: String {
        switch self {
        case .unreachable(.udp):
            "no answer over UDP: check the address and port, or use ?transport=tcp or turns: if a firewall drops UDP"
        case .unreachable(let transport):
            "connected over \(transport.rawValue.uppercased()), but no answer: check that a TURN server listens there"
        case .connectionLost(.udp): "datagrams to the server cannot be sent: check the network and the address"
        case .connectionLost(let transport):
            "no connection over \(transport.rawValue.uppercased()), or it ended: check address, port and firewall"
        case .wrongCredentials(let realm):
            "the server does not accept user name and password (its realm is \"\(realm.printable)\"): check both, and whether the password "
                + "has expired"
        case .incompleteChallenge:
            "the server asks for credentials without saying a realm and nonce: it is misconfigured"
        case .weakenedChallenge:
            "the server's challenge lacks the password algorithms that its nonce promises: somebody may have "
                + "changed it on the way: use turns:"
        case .hashUnavailable: "OpenSSL offers no MD5 or SHA-256: check the system's cryptographic policy"
        case .staleNonceAgain: "the server refuses each nonce that it gives: it is misconfigured, or its clock jumps"
        case .forbidden: "the server forbids this user or address to relay: ask who runs it"
        case .portInUse: "the server still has an allocation for our port: try again from another local port"
        case .allocationLost:
            "the server no longer holds the allocation: its lifetime ended, the server was restarted, or a router on the "
                + "way gave our port another number: allocate again"
        case .quotaReached:
            "this user has as many allocations as the server allows: end others and wait a few seconds, or raise its quota"
        case .serverFull: "the server has no port or bandwidth left: try later, or another server"
        case .unsupportedTransport: "the server does not relay UDP: use another server"
        case .unsupportedAddressFamily: "the server has no relayed address of this IP version: ask for the other one"
        case .redirectedInCircles: "the server points to others that point on, or nowhere: name the right one"
        case .malformedResponse: "the server's success response lacks addresses or lifetime: is it a TURN server?"
        case .refused(let code, let reason): "the server refused with error \(code) \"\(reason)\""
        }
    }
}
