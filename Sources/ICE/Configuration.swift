/// The role of an agent (RFC 8445 §6.1.1).
package enum Role: Hashable, Sendable {
    /// The agent that nominates, usually the offerer.
    case controlling
    /// The other agent, which follows the nomination.
    case controlled

    var opposite: Role { self == .controlling ? .controlled : .controlling }
}

/// Limits on the memory that a peer can make an agent use.
package struct Limits: Hashable, Sendable {
    /// The maximum number of the peer's candidates, including peer-reflexive ones.
    package var remoteCandidates = 100
    /// The maximum number of our candidates, including peer-reflexive ones.
    package var localCandidates = 100
    /// The maximum number of pairs on the checklist (RFC 8445 §6.1.2.5).
    package var pairs = 100
    /// The maximum number of stored requests that arrived before the peer's credentials.
    package var earlyChecks = 20
    /// The maximum number of the peer's requests that the agent recognizes when they are repeated.
    package var answeredRequests = 2048
    /// The maximum number of queued datagrams.
    package var transmits = 256
    /// The maximum number of combinations of a STUN or TURN server and a base. Preferred bases come first.
    package var servers = 64

    /// Creates the default limits.
    package init() {}
}

/// The agent's times. RFC 8445 §14 recommends slower checks than these defaults, which follow browsers: an interactive
/// share must show its first frame within a second.
package struct Timing: Hashable, Sendable {
    /// Ta, the interval between two new checks (RFC 8445 §14.2).
    package var pace: Duration = .milliseconds(20)
    /// The bounds of a check's first retransmission timeout, which doubles from then on, if the pair's round-trip time
    /// is not known: Ta for each open pair, within these bounds (RFC 8445 §14.3, which starts with 500 ms). libwebrtc
    /// sends a check every 48 ms until one is answered.
    package var checkRetransmission: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(200)
    /// The maximum retransmission timeout of a check.
    package var longestCheckRetransmission: Duration = .seconds(4)
    /// The time for which a check is retransmitted before the pair fails: a little longer than Rc and Rm imply (RFC
    /// 8489 §6.2.1) with an RTO of 200 ms.
    package var checkPatience: Duration = .seconds(14)
    /// The RTO for requests to STUN servers (RFC 8489 §6.2.1).
    package var gatherRetransmission: Duration = .milliseconds(500)
    /// Rc, the number of transmissions of a request to a STUN server.
    package var gatherTransmissions = 7
    /// The maximum time of gathering from STUN servers.
    package var gatherLimit: Duration = .seconds(3)
    /// The maximum time of gathering from TURN servers. They need more round trips, especially over a connection, and
    /// are sometimes the only route. A relayed address that arrives later is still used.
    package var relayGatherLimit: Duration = .seconds(8)
    /// The requested lifetime of relayed addresses. The server can grant another one. Allocations are refreshed in
    /// time, unless they are left for another agent.
    package var relayLifetime: Duration = .seconds(600)
    /// The interval of keepalives for bindings to a STUN server until a pair is selected (RFC 8445 §11).
    package var bindingKeepalive: Duration = .seconds(15)
    /// The time that the controlling agent waits for a better pair after the first valid one.
    package var nominationSettle: Duration = .milliseconds(50)
    /// The time that it waits if the best valid pair is relayed or over TCP, also while more candidates can arrive: NATs
    /// on both sides open with the second transmission of a direct check. Media flows during that time.
    package var poorNominationSettle: Duration = .milliseconds(800)
    /// The timeout of a check over a TCP connection, including the opening of the connection.
    package var streamCheckTimeout: Duration = .seconds(10)
    /// The time without a valid pair after which the agent fails.
    package var connectivityLimit: Duration = .seconds(30)
    /// The interval of consent checks, multiplied by a random factor of 0.8 to 1.2 (RFC 7675 §5.1).
    package var consentInterval: Duration = .seconds(5)
    /// The interval of consent checks while one is unanswered; twice the round-trip time if that is longer.
    package var consentRetry: Duration = .milliseconds(400)
    /// The number of consecutive unanswered consent checks after which the agent is disconnected.
    package var consentMisses = 4
    /// The time for which consent lasts without an answer (RFC 7675 §5.1).
    package var consentExpiry: Duration = .seconds(30)
    /// The time between the expiry of consent and failure, for a restart; zero for an owner that cannot restart.
    package var restartPatience: Duration = .zero

    /// Creates the default times.
    package init() {}
}

/// The configuration of an agent.
package struct Configuration: Sendable {
    /// The initial role. A conflict can change it.
    package var role: Role
    /// Our user name fragment and password.
    package var credentials: Credentials
    /// The value of SOFTWARE in our messages, if any.
    package var software: String?
    /// The times.
    package var timing = Timing()
    /// The limits.
    package var limits = Limits()
    /// Whether TURN over UDP uses another port than its base, because many agents share the base. The mapped address
    /// that the server sees is then not an address of the base.
    package var relaysHaveOwnPorts = false
    /// The routes that are allowed.
    package var iceTransportPolicy = ICETransportPolicy.all

    /// Creates a configuration with default times and limits.
    package init(role: Role, credentials: Credentials) {
        self.role = role
        self.credentials = credentials
    }
}
