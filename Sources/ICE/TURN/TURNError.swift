internal import RTCShareSTUN
package import RTCShareWireFormat

/// The reason why a TURN server grants no relayed address, or no longer. No case contains a password.
package enum TURNError: Error, Hashable, Sendable {
    /// The server did not answer.
    case unreachable(TransportProtocol)
    /// The connection ended or could not be opened, or a datagram could not be sent.
    case connectionLost(TransportProtocol)
    /// The server responded with 401 to a request with credentials, or with 441. `canExpire` marks credentials of
    /// limited time from a shared secret.
    case wrongCredentials(realm: String, canExpire: Bool = false)
    /// The server's challenge has no realm or no nonce.
    case incompleteChallenge
    /// The challenge lacks the password algorithms that its nonce announces (RFC 8489 §9.2.5).
    case weakenedChallenge
    /// MD5 or SHA-256 is not available.
    case hashUnavailable
    /// The server repeatedly rejected its own nonces.
    case staleNonceAgain
    /// The server responded with 403 (Forbidden).
    case forbidden
    /// The server responded with 437 to an Allocate request: it still has an allocation for our port.
    case portInUse
    /// The server responded with 437 to a later request: it no longer has the allocation.
    case allocationLost
    /// The server responded with 486 (Allocation Quota Reached).
    case quotaReached
    /// The server responded with 508 (Insufficient Capacity).
    case serverFull
    /// The server responded with 442 (Unsupported Transport Protocol).
    case unsupportedTransport
    /// The server responded with 440 (Address Family not Supported).
    case unsupportedAddressFamily
    /// The server responded with 300 (Try Alternate) after a redirect, or without a usable address.
    case redirectedInCircles
    /// The server's success response lacks a required attribute.
    case malformedResponse
    /// The server responded with another error code, with the start of its reason.
    case refused(code: Int, reason: String)
}

extension TURNError {
    /// Creates the error for a challenge that can't be answered.
    init(_ error: ChallengeError) {
        switch error {
        case .incomplete: self = .incompleteChallenge
        case .weakened: self = .weakenedChallenge
        case .unavailable: self = .hashUnavailable
        }
    }
}

extension TURNError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    package var description: String {
        switch self {
        case .unreachable(.udp):
            "no answer over UDP: check the address and port, or use ?transport=tcp or turns: if a firewall drops UDP"
        case .unreachable(let transport):
            "connected over \(transport.rawValue.uppercased()), but no answer: check that a TURN server listens there"
        case .connectionLost(.udp): "datagrams to the server cannot be sent: check the network and the address"
        case .connectionLost(let transport):
            "no connection over \(transport.rawValue.uppercased()), or it ended: check address, port and firewall"
        case .wrongCredentials(let realm, let canExpire):
            "the server does not accept user name and password (its realm is \"\(realm.printable)\"): "
                + (canExpire
                    ? "check the secret that they are from. If it is right, check the clocks of both machines"
                    : "check both")
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
