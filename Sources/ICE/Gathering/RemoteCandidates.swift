internal import RTCShareWireFormat

/// The peer's candidates: announced and peer-reflexive ones.
struct RemoteCandidates: Sendable {
    private(set) var candidates: [Candidate] = []
    /// Whether the peer will announce no more candidates.
    private(set) var haveEnded = false
    private var reflexiveCount = 0

    func index(of address: TransportAddress, _ tcpType: TCPType?) -> Int? {
        candidates.firstIndex { $0.address == address && $0.tcpType == tcpType }
    }

    mutating func add(_ candidate: Candidate) {
        candidates.append(candidate)
    }

    /// Adds a candidate that a check revealed (RFC 8445 §7.3.1.3).
    mutating func addPeerReflexive(
        _ address: TransportAddress, _ tcpType: TCPType?, priority: UInt32
    ) -> Candidate {
        reflexiveCount += 1
        let candidate = Candidate(
            foundation: "prflx\(reflexiveCount)", priority: priority, address: address, type: .peerReflexive,
            tcpType: tcpType)
        candidates.append(candidate)
        return candidate
    }

    /// Replaces a peer-reflexive candidate with the announced one.
    mutating func replace(_ index: Int, with candidate: Candidate) {
        candidates[index] = candidate
    }

    mutating func remove(_ index: Int) -> Candidate {
        candidates.remove(at: index)
    }

    /// Records that the peer will announce no more candidates.
    mutating func end() {
        haveEnded = true
    }

    /// Removes all candidates. The peer announces those of the next generation again.
    mutating func restart() {
        self = RemoteCandidates()
    }
}
