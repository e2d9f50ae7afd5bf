package import RTCShareWireFormat

/// The state of a pair's checks (RFC 8445 §6.1.2.6, with the names of webrtc-stats).
package enum PairState: String, Hashable, Sendable, Encodable {
    /// The pair waits for another pair of its foundation.
    case frozen
    /// The pair waits for its check.
    case waiting
    /// The pair's check is in progress.
    case inProgress = "in-progress"
    /// A check succeeded.
    case succeeded
    /// No check was answered, or the answer was invalid.
    case failed
}

/// The outcome of a pair's checks, for an error message.
package enum PairFate: Hashable, Sendable, CustomStringConvertible {
    /// No check was sent.
    case notTried
    /// Checks are in progress.
    case trying(checks: Int)
    /// A check was answered.
    case answered
    /// Checks were answered at first, and then no more.
    case fellSilent
    /// No check was answered.
    case noAnswer(checks: Int)
    /// The last answer was an error.
    case refused(code: Int, reason: String)
    /// The response came from another address than the check's destination (RFC 8445 §7.2.5.2.1).
    case answeredFromElsewhere(TransportAddress)
    /// The system could not send to the destination.
    case unreachable
    /// The TCP connection could not be opened, or was closed.
    case connectionLost
    /// The relay forwards no packets between the peer and us. The code is that of its error, or 0 if it did not answer.
    case refusedByRelay(code: Int, reason: String)
    /// The allocation at the relay has ended.
    case relayLost(TURNError)

    /// The outcome in words.
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

/// A pair for statistics and error messages. The counts have the names of webrtc-stats.
package struct PairReport: Sendable, CustomStringConvertible {
    /// An identifier that does not change for the life of the pair.
    package let id: Int
    /// Our candidate; after a successful check, the candidate that the peer saw.
    package let local: Candidate
    /// The peer's candidate.
    package let remote: Candidate
    /// The state of the pair's checks.
    package let state: PairState
    /// Whether the controlling agent nominated the pair.
    package let nominated: Bool
    /// The pair priority (RFC 8445 §6.1.2.3).
    package let priority: UInt64
    /// The outcome of the checks so far.
    package let fate: PairFate
    /// The counts of the pair.
    package let statistics: PairStatistics

    /// The pair and its outcome, such as `host 192.0.2.1:9 → host 192.0.2.2:9: no answer to 10 checks`.
    package var description: String { "\(local) → \(remote): \(fate)" }
}

/// The counts of a pair, with the names of webrtc-stats' RTCIceCandidatePairStats.
package struct PairStatistics: Hashable, Sendable, Encodable {
    /// The number of checks sent, including retransmissions and consent checks.
    package internal(set) var requestsSent = 0
    /// The number of authentic requests received.
    package internal(set) var requestsReceived = 0
    /// The number of responses to received requests.
    package internal(set) var responsesSent = 0
    /// The number of authentic responses received.
    package internal(set) var responsesReceived = 0
    /// The number of consent checks among the requests sent.
    package internal(set) var consentRequestsSent = 0
    /// The latest round-trip time of a request that was sent once.
    package internal(set) var currentRoundTripTime: Duration?
    /// The sum of all round-trip times.
    package internal(set) var totalRoundTripTime: Duration = .zero
}

/// A pair on the checklist. Since candidates with the same base are checked once (RFC 8445 §6.1.2.4), the base, with its
/// transport protocol, and the remote address identify it. The local candidate is the base's until a response reveals the address that the peer
/// saw.
struct CandidatePair: Sendable {
    let id: Int
    let base: BaseAddress
    /// The number of restarts before the pair.
    let generation: Int
    var local: Candidate
    var remote: Candidate
    var state: PairState
    var priority: UInt64
    /// Whether the controlling agent nominated the pair and its check succeeded.
    var isNominated = false
    /// Whether the peer nominated the pair before our check succeeded (RFC 8445 §7.3.1.5).
    var awaitsNomination = false
    /// Whether the pair's latest request had USE-CANDIDATE.
    var latestRequestNominates = false
    var latestRequest: Instant?
    var latestResponse: Instant?
    var failure: PairFate?
    /// An upper bound of the round-trip time, if it is known. If a check was retransmitted, the response does not show
    /// which transmission it answers.
    private(set) var roundTripBound: Duration?
    /// Whether consent on the pair has expired: it must not be used again with these credentials (RFC 7675 §5.1).
    var hasLostConsent = false
    var statistics = PairStatistics()

    /// Records a response that arrived `time` after the first transmission of its request.
    mutating func note(answerAfter time: Duration, isExact: Bool) {
        roundTripBound = isExact ? time : min(time, roundTripBound ?? time)
    }

    /// Whether the pair's remote candidate is the given one.
    func isOf(_ candidate: Candidate) -> Bool {
        remote.address == candidate.address && remote.tcpType == candidate.tcpType
    }

    /// Whether the pair is or will be checked, and the system has not rejected a check or lost its stream.
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

    /// Returns the pair priority of RFC 8445 §6.1.2.3 for the priorities of both candidates and our role.
    static func priority(local: UInt32, remote: UInt32, role: Role) -> UInt64 {
        let controlling = UInt64(role == .controlling ? local : remote)
        let controlled = UInt64(role == .controlling ? remote : local)
        return min(controlling, controlled) << 32 &+ 2 &* max(controlling, controlled)
            &+ (controlling > controlled ? 1 : 0)
    }
}
