internal import RTCShareWireFormat

/// An authentic request of the peer, and what it says.
struct IncomingCheck: Sendable {
    let source: TransportAddress
    let base: TransportAddress
    let remoteFragment: String
    let priority: UInt32
    let nominates: Bool
}

/// The peer's requests: those that came before they could be acted on, and those that were answered.
struct IncomingChecks: Sendable {
    /// The authentic ones that came before the peer's credentials.
    private(set) var early: [IncomingCheck] = []
    var answered: AnsweredRequests
    /// How many of the others may still be refused.
    var refusals = RefusalAllowance()
    private let earlyLimit: Int

    init(limits: Limits) {
        answered = AnsweredRequests(limit: limits.answeredRequests)
        earlyLimit = limits.earlyChecks
    }

    /// Keeps a request until the peer's credentials are here, the newest of each way; false where there is no room.
    mutating func keep(_ check: IncomingCheck) -> Bool {
        if let index = early.firstIndex(where: { $0.source == check.source && $0.base == check.base }) {
            early[index] = check
        } else if early.count < earlyLimit {
            early.append(check)
        } else {
            return false
        }
        return true
    }

    /// Whether one was kept that came this way.
    func hasEarly(from source: TransportAddress, to base: TransportAddress) -> Bool {
        early.contains { $0.source == source && $0.base == base }
    }

    /// Those that were kept, for who can act on them.
    mutating func takeEarly() -> [IncomingCheck] {
        defer { early = [] }
        return early
    }

    mutating func forgetEarly() {
        early = []
    }

    /// Forgets what came to bases that are gone.
    mutating func forgetEarly(to bases: [TransportAddress]) {
        early.removeAll { bases.contains($0.base) }
    }
}
