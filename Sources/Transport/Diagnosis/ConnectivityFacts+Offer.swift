internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareWireFormat

extension ConnectivityFacts {
    /// Returns the server-reflexive candidates of an offer. They may come from another process, the only one that asked
    /// the servers.
    static func reflexiveCandidates(of offer: SessionDescription) -> [Candidate] {
        var found: [Candidate] = []
        for candidate in offer.media.flatMap({ (try? $0.candidates()) ?? [] }) {
            guard candidate.kind.description == CandidateType.serverReflexive.rawValue,
                case .address(let ip) = candidate.host
            else { continue }
            let fact = Candidate(.serverReflexive, TransportAddress(ip: ip, port: candidate.port))
            if !found.contains(fact) { found.append(fact) }
        }
        return found
    }

    /// Adds candidates of this side that are not known yet.
    mutating func add(_ candidates: [Candidate]) {
        localCandidates += candidates.filter { !localCandidates.contains($0) }
    }
}
