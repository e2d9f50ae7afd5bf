internal import RTCShareWireFormat

/// The content of the peer's authentic request.
struct IncomingCheck: Sendable {
    let source: TransportAddress
    let base: BaseAddress
    let remoteFragment: String
    let priority: UInt32
    let nominates: Bool
}

/// The peer's requests: those that arrived before the agent could process them, and those that were answered.
struct IncomingChecks: Sendable {
    /// The authentic requests that arrived before the peer's credentials.
    private(set) var early: [IncomingCheck] = []
    var answered: AnsweredRequests
    /// The limit of error responses to other senders.
    var refusals = RefusalAllowance()
    private let earlyLimit: Int

    init(limits: Limits) {
        answered = AnsweredRequests(limit: limits.answeredRequests)
        earlyLimit = limits.earlyChecks
    }

    /// Stores a request until the peer's credentials arrive, the latest one of each path. Returns false if there is no
    /// room.
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

    /// Whether a request of this path is stored.
    func hasEarly(from source: TransportAddress, to base: BaseAddress) -> Bool {
        early.contains { $0.source == source && $0.base == base }
    }

    /// Removes and returns the stored requests.
    mutating func takeEarly() -> [IncomingCheck] {
        defer { early = [] }
        return early
    }

    mutating func forgetEarly() {
        early = []
    }

    /// Removes the requests of an ended connection.
    mutating func forgetEarly(from source: TransportAddress, to base: BaseAddress) {
        early.removeAll { $0.source == source && $0.base == base }
    }

    /// Removes the requests that arrived at removed bases.
    mutating func forgetEarly(to bases: [BaseAddress]) {
        early.removeAll { bases.contains($0.base) }
    }
}
