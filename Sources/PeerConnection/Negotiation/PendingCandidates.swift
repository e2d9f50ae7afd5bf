internal import RTCShareICE
internal import RTCShareSDP

/// The peer's candidates that wait for their description, or for the address of a name.
struct PendingCandidates {
    /// The candidates of the latest description that no earlier one had.
    var newest: [CandidateAttribute] = []
    /// The names without an address so far.
    private(set) var unresolvedNames: Set<String> = []
    /// The names that are not resolved.
    private(set) var namesLeftOut: Set<String> = []
    /// The former user name fragments of the peer.
    private(set) var formerFragments: [String] = []
    /// The candidates that arrived before their description.
    private var early: [(fragment: String, candidate: CandidateAttribute)] = []
    private let isRelayOnly: Bool
    private let resolvesHostNames: Bool

    /// The maximum number of candidates that wait for a description.
    static let maximumEarly = 32
    /// The maximum number of former fragments. Candidates of a description that eight others have replaced do not
    /// arrive.
    static let maximumFormer = 8

    init(_ configuration: PeerConnection.Configuration) {
        isRelayOnly = configuration.iceTransportPolicy == .relay
        resolvesHostNames = configuration.resolvesHostNames
    }

    // Future and former descriptions.

    /// Whether a fragment is a former one of the peer.
    func isFormer(_ fragment: String) -> Bool { formerFragments.contains(fragment) }

    /// Stores a candidate for the description with this fragment. Returns false if there is no room.
    mutating func keep(_ candidate: CandidateAttribute, for fragment: String) -> Bool {
        guard early.count < Self.maximumEarly else { return false }
        early.append((fragment, candidate))
        return true
    }

    /// Removes and returns the candidates for the description with this fragment.
    mutating func takeEarly(of fragment: String) -> [CandidateAttribute] {
        defer { early.removeAll { $0.fragment == fragment } }
        return early.filter { $0.fragment == fragment }.map(\.candidate)
    }

    /// Records an ICE restart of the peer, after which candidates with the former fragment are obsolete.
    mutating func restart(former fragment: String) {
        formerFragments = formerFragments.suffix(Self.maximumFormer - 1) + [fragment]
        (unresolvedNames, namesLeftOut) = ([], [])
    }

    // Names.

    /// Whether a name is resolved. A query reveals this host: DNS to the server of the name, multicast DNS to the whole
    /// link. If only relays are allowed, no query is sent, and relays cannot reach a host of the link anyway.
    func isResolved(_ name: String) -> Bool {
        guard !isRelayOnly else { return false }
        return resolvesHostNames || MulticastDNSName(name) != nil
    }

    /// The candidates of the latest description that have a host name to resolve.
    var named: [CandidateAttribute] {
        newest.filter { candidate in
            if case .name(let name) = candidate.host { candidate.isCheckable && isResolved(name) } else { false }
        }
    }

    /// Records a name. Returns false if it is a new name that is not resolved.
    mutating func note(_ name: String) -> Bool {
        guard !isResolved(name) else {
            unresolvedNames.insert(name)
            return true
        }
        return !namesLeftOut.insert(name).inserted
    }

    /// Records that a name has an address.
    mutating func noteResolved(_ name: String) {
        unresolvedNames.remove(name)
    }

    /// Returns the number of names without an address, after the end of candidates.
    mutating func takeUnresolved() -> Int {
        defer { unresolvedNames = [] }
        return unresolvedNames.count
    }
}

extension CandidateAttribute {
    /// Whether a candidate has a supported type: UDP or passive TCP.
    var isCheckable: Bool { isUDP || tcpType == "passive" }
}
