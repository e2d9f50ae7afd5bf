internal import RTCShareSDP

/// The ICE credentials of this side, and what the peer was told of its candidates.
struct ICESession {
    /// The credentials that were agreed on, or stand in the first description.
    var local: ICEAttributes
    /// Those of an offer that restarts and was not answered yet.
    var offered: ICEAttributes?
    /// Whether the next offer is to restart.
    var isRestartWanted = false
    /// Whether every server has answered or was given up.
    var isGatheringComplete = false
    /// The candidates that the peer was told, in the newest description and since.
    private(set) var told: Set<CandidateAttribute> = []
    /// The `a=mid` of the section that holds the candidates; nil before there is a description.
    private(set) var mid: String?
    /// Whether the peer was told that there are no more.
    private(set) var hasToldAll = false
    /// Candidates of the peer that came before the description that they belong to.
    var early: [(ufrag: String, candidate: CandidateAttribute)] = []
    /// User name fragments that the peer had before.
    private(set) var formerFragments: [String] = []

    /// How many of the peer's candidates are kept for a description that is to come.
    static let maximumEarly = 32
    /// How many of its former fragments are known: candidates of a description that eight have followed come no more.
    static let maximumFormer = 8

    init(local: ICEAttributes) {
        self.local = local
    }

    /// Takes note of what a description told.
    mutating func note(_ description: SessionDescription, _ transport: TransportParameters) {
        guard let section = description.media.first(where: { $0.port != 0 }) else { return }
        mid = (try? section.mid()) ?? ""
        told = Set(transport.candidates)
        hasToldAll = transport.hasAllCandidates
    }

    /// Whether the peer has yet to be told of a candidate.
    mutating func tells(_ candidate: CandidateAttribute) -> Bool {
        mid != nil && told.insert(candidate).inserted
    }

    /// Whether the peer has yet to be told that there are no more.
    mutating func tellsAll() -> Bool {
        defer { if mid != nil { hasToldAll = true } }
        return mid != nil && !hasToldAll
    }

    mutating func noteFormer(_ fragment: String) {
        formerFragments = formerFragments.suffix(Self.maximumFormer - 1) + [fragment]
    }
}
