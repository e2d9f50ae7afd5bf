package import RTCShareWireFormat

/// Where a pair is in its checks (RFC 8445 §6.1.2.6, under the names of webrtc-stats).
package enum PairState: String, Hashable, Sendable, Encodable {
    /// Waits for another pair of its foundation.
    case frozen
    /// Will be checked.
    case waiting
    /// Is being checked.
    case inProgress = "in-progress"
    /// A check was answered.
    case succeeded
    /// No check was answered, or not as it must be.
    case failed
}

/// How a pair came to its end, for an error message.
package enum PairFate: Hashable, Sendable, CustomStringConvertible {
    /// No check was sent.
    case notTried
    /// Checks are under way.
    case trying(checks: Int)
    /// A check was answered.
    case answered
    /// Checks were answered, and no more.
    case fellSilent
    /// No check was answered.
    case noAnswer(checks: Int)
    /// The last answer was an error.
    case refused(code: Int, reason: String)
    /// The answer came from elsewhere than the check went to (RFC 8445 §7.2.5.2.1).
    case answeredFromElsewhere(TransportAddress)
    /// The system could not send there.
    case unreachable
    /// The TCP connection could not be opened, or it ended.
    case connectionLost
    /// The relay lets nothing pass to and from the peer: its error, code 0 where it did not answer.
    case refusedByRelay(code: Int, reason: String)
    /// The relay is gone.
    case relayLost(TURNError)

    /// Words for a person.
    package var description: String {
        switch self {
        case .notTried: "not tried"
        case .trying(let checks): "no answer yet to \(checks) \(checks == 1 ? "check" : "checks")"
        case .answered: "answered"
        case .fellSilent: "answered, then fell silent"
        case .noAnswer(let checks): "no answer to \(checks) \(checks == 1 ? "check" : "checks")"
        case .refused(let code, let reason): "refused with error \(code) \(reason)"
        case .answeredFromElsewhere(let address): "answered from \(address) instead"
        case .unreachable: "the system has no route to it"
        case .connectionLost: "no TCP connection, or it ended"
        case .refusedByRelay(0, _): "the relay did not answer the request for a permission"
        case .refusedByRelay(let code, let reason):
            "the relay does not let the peer through: error \(code) \"\(reason)\""
        case .relayLost(let error): "the relay is gone: \(error)"
        }
    }
}

/// One pair as statistics and error messages show it; the counts carry the names of webrtc-stats.
package struct PairReport: Sendable, CustomStringConvertible {
    /// Stays the same for the life of the pair.
    package let id: Int
    /// Our candidate; once a check was answered, the one that the peer saw.
    package let local: Candidate
    /// The peer's candidate.
    package let remote: Candidate
    /// Where the pair is in its checks.
    package let state: PairState
    /// Whether the controlling agent chose it.
    package let nominated: Bool
    /// RFC 8445 §6.1.2.3.
    package let priority: UInt64
    /// How it ended, or where it stands.
    package let fate: PairFate
    /// What was counted.
    package let statistics: PairStatistics

    /// `host 192.0.2.1:9 → host 192.0.2.2:9: no answer to 10 checks`.
    package var description: String { "\(local) → \(remote): \(fate)" }
}

/// The counts of a pair under the names of webrtc-stats' RTCIceCandidatePairStats.
package struct PairStatistics: Hashable, Sendable, Encodable {
    /// Checks sent, retransmissions included, consent checks too.
    package internal(set) var requestsSent = 0
    /// Authentic requests received.
    package internal(set) var requestsReceived = 0
    /// Responses sent to those.
    package internal(set) var responsesSent = 0
    /// Authentic responses received.
    package internal(set) var responsesReceived = 0
    /// Of the requests sent, those that asked for consent.
    package internal(set) var consentRequestsSent = 0
    /// The newest round trip of a request that was sent once.
    package internal(set) var currentRoundTripTime: Duration?
    /// All round trips together.
    package internal(set) var totalRoundTripTime: Duration = .zero
}

/// A pair on the checklist. As candidates that share a base are checked once (RFC 8445 §6.1.2.4), the base and the
/// remote address identify it; the local candidate is the base's until an answer says what the peer saw.
struct CandidatePair: Sendable {
    let id: Int
    let base: TransportAddress
    /// The restarts that were before it.
    let generation: Int
    var local: Candidate
    var remote: Candidate
    var state: PairState
    var priority: UInt64
    /// The controlling agent chose it, and a check succeeded.
    var isNominated = false
    /// The peer nominated it before our own check succeeded (RFC 8445 §7.3.1.5).
    var awaitsNomination = false
    /// Whether the newest request on it carried USE-CANDIDATE.
    var latestRequestNominates = false
    var latestRequest: Instant?
    var latestResponse: Instant?
    var failure: PairFate?
    /// What the round trip does not exceed, as far as it is known: of a check that was sent again it can't be told which
    /// transmission was answered.
    private(set) var roundTripBound: Duration?
    /// Consent on it has expired: under these credentials it is not to be used again (RFC 7675 §5.1).
    var hasLostConsent = false
    var statistics = PairStatistics()

    /// Takes note of an answer to a request that was sent so long ago for the first time.
    mutating func note(answerAfter time: Duration, isExact: Bool) {
        roundTripBound = isExact ? time : min(time, roundTripBound ?? time)
    }

    /// Whether it leads to a candidate of the peer.
    func isOf(_ candidate: Candidate) -> Bool {
        remote.address == candidate.address && remote.transport == candidate.transport
    }

    /// Whether it is being checked, or will be, and no check was refused by the system or lost with its stream so far.
    var isOpen: Bool {
        switch state {
        case .frozen, .waiting: true
        case .inProgress: failure != .unreachable && failure != .connectionLost
        case .succeeded, .failed: false
        }
    }

    var foundation: String { "\(local.foundation) \(remote.foundation)" }

    var fate: PairFate {
        switch state {
        case .succeeded: .answered
        case .failed where statistics.responsesReceived > 0: failure ?? .fellSilent
        case .failed: failure ?? .noAnswer(checks: statistics.requestsSent)
        case .frozen, .waiting, .inProgress:
            failure ?? (statistics.requestsSent == 0 ? .notTried : .trying(checks: statistics.requestsSent))
        }
    }

    /// RFC 8445 §6.1.2.3, from the priorities of both candidates and our role.
    static func priority(local: UInt32, remote: UInt32, role: Role) -> UInt64 {
        let controlling = UInt64(role == .controlling ? local : remote)
        let controlled = UInt64(role == .controlling ? remote : local)
        return min(controlling, controlled) << 32 &+ 2 &* max(controlling, controlled)
            &+ (controlling > controlled ? 1 : 0)
    }
}
