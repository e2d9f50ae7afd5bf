/// Which agent nominates (RFC 8445 §6.1.1).
package enum Role: Hashable, Sendable {
    /// The agent that nominates; the offerer, as a rule.
    case controlling
    /// The agent that follows.
    case controlled

    var opposite: Role { self == .controlling ? .controlled : .controlling }
}

/// Bounds on what a peer can make an agent remember.
package struct Limits: Hashable, Sendable {
    /// Candidates of the peer, reflexive ones included.
    package var remoteCandidates = 100
    /// Our candidates, those that only the peer sees included.
    package var localCandidates = 100
    /// Pairs on the checklist (RFC 8445 §6.1.2.5).
    package var pairs = 100
    /// Requests that came before the peer's credentials, kept until those come.
    package var earlyChecks = 20
    /// Requests of the peer that are known again.
    package var answeredRequests = 2048
    /// Datagrams waiting to be taken out.
    package var transmits = 256
    /// STUN and TURN servers times the bases that ask them, the preferred bases first.
    package var servers = 64

    /// The defaults.
    package init() {}
}

/// The agent's times. RFC 8445 §14 recommends slower checks than these defaults, which follow what browsers do: an
/// interactive share has a second to show its first frame.
package struct Timing: Hashable, Sendable {
    /// Ta, between two new checks (RFC 8445 §14.2).
    package var pace: Duration = .milliseconds(20)
    /// Until a check is sent again, once as long and doubled from then on, where the pair's round trip is not known: Ta for
    /// each pair that is checked, within these bounds (RFC 8445 §14.3, which begins with 500 ms). libwebrtc sends a check
    /// every 48 ms until one is answered.
    package var checkRetransmission: ClosedRange<Duration> = .milliseconds(50) ... .milliseconds(200)
    /// What the doubling stops at.
    package var longestCheckRetransmission: Duration = .seconds(4)
    /// How long a check is sent again before the pair fails: a little longer than Rc and Rm would have it (RFC 8489 §6.2.1)
    /// with an RTO of 200 ms.
    package var checkPatience: Duration = .seconds(14)
    /// RTO toward STUN servers (RFC 8489 §6.2.1).
    package var gatherRetransmission: Duration = .milliseconds(500)
    /// Rc toward STUN servers.
    package var gatherTransmissions = 7
    /// How long gathering takes at most, answers or not.
    package var gatherLimit: Duration = .seconds(3)
    /// How long gathering waits for TURN servers at most: they need more round trips, over a connection most of all, and
    /// where they are needed nothing else helps. A relayed address that comes later is still used.
    package var relayGatherLimit: Duration = .seconds(8)
    /// The lifetime that relayed addresses are asked for with; the server may grant another. They are extended in time,
    /// unless they are left for another agent to take up.
    package var relayLifetime: Duration = .seconds(600)
    /// How often the bindings that a STUN server made are kept alive until a pair is selected (RFC 8445 §11).
    package var bindingKeepalive: Duration = .seconds(15)
    /// How long the controlling agent waits for a better pair after the first valid one.
    package var nominationSettle: Duration = .milliseconds(50)
    /// The same where the best valid pair is relayed, also while more candidates may come: translators on both sides open
    /// with the second transmission of a direct check. Media flows meanwhile.
    package var relayedNominationSettle: Duration = .milliseconds(800)
    /// How long a check over a TCP connection is waited for, the opening of the connection included.
    package var streamCheckTimeout: Duration = .seconds(10)
    /// How long checking goes on without any valid pair before the agent fails.
    package var connectivityLimit: Duration = .seconds(30)
    /// Between two consent checks, times a random 0.8 to 1.2 (RFC 7675 §5.1).
    package var consentInterval: Duration = .seconds(5)
    /// Between consent checks while one is unanswered, or twice the round trip where that is longer.
    package var consentRetry: Duration = .milliseconds(400)
    /// How many consent checks in a row go unanswered before the agent is disconnected.
    package var consentMisses = 4
    /// How long consent lasts without an answer (RFC 7675 §5.1).
    package var consentExpiry: Duration = .seconds(30)
    /// How long a restart is waited for once consent has expired before the agent fails; zero for who can't restart.
    package var restartPatience: Duration = .zero

    /// The defaults.
    package init() {}
}

/// What an agent is made from.
package struct Configuration: Sendable {
    /// The role to begin with; a conflict may change it.
    package var role: Role
    /// Our own user name fragment and password.
    package var credentials: Credentials
    /// SOFTWARE in what is sent, if any.
    package var software: String?
    /// The times.
    package var timing = Timing()
    /// The bounds.
    package var limits = Limits()
    /// Whether TURN over UDP goes from another port than its base's, as where many agents share that: what the server sees
    /// of it is then no address of the base.
    package var relaysHaveOwnPorts = false
    /// Which paths may be taken.
    package var iceTransportPolicy = ICETransportPolicy.all

    /// A configuration with default times and bounds.
    package init(role: Role, credentials: Credentials) {
        self.role = role
        self.credentials = credentials
    }
}
