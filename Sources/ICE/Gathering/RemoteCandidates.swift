internal import RTCShareWireFormat

/// The peer's candidates: those that it announced, and those that only we see.
struct RemoteCandidates: Sendable {
    private(set) var candidates: [Candidate] = []
    /// Whether the peer will announce no more.
    private(set) var haveEnded = false
    private var reflexiveCount = 0

    func index(of address: TransportAddress, over transport: TransportProtocol) -> Int? {
        candidates.firstIndex { $0.address == address && $0.transport == transport }
    }

    mutating func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// Adds one that was learned from a check (RFC 8445 §7.3.1.3).
    mutating func addPeerReflexive(
        _ address: TransportAddress, over transport: TransportProtocol, priority: UInt32
    ) -> Candidate {
        reflexiveCount += 1
        let candidate = Candidate(
            foundation: "prflx\(reflexiveCount)", priority: priority, address: address, type: .peerReflexive,
            transport: transport)
        candidates.append(candidate)
        return candidate
    }

    /// One that was known from its own check is announced.
    mutating func replace(_ index: Int, with candidate: Candidate) {
        candidates[index] = candidate
    }

    mutating func remove(_ index: Int) -> Candidate {
        candidates.remove(at: index)
    }

    /// The peer will announce no more.
    mutating func end() {
        haveEnded = true
    }

    /// Those of the next generation are to be announced anew.
    mutating func restart() {
        self = RemoteCandidates()
    }
}
