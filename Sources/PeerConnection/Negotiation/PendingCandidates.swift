internal import RTCShareICE
internal import RTCShareSDP

/// The peer's candidates that wait for something: for the description that they belong to, or for the address of a name.
struct PendingCandidates {
    /// Those of the newest description that no earlier one had.
    var newest: [CandidateAttribute] = []
    /// Names that have no address yet.
    private(set) var unresolvedNames: Set<String> = []
    /// Names that are not asked for.
    private(set) var namesLeftOut: Set<String> = []
    /// User name fragments that the peer had before.
    private(set) var formerFragments: [String] = []
    /// Those that came before the description that they belong to.
    private var early: [(fragment: String, candidate: CandidateAttribute)] = []
    private let isRelayOnly: Bool
    private let resolvesHostNames: Bool

    /// How many are kept for a description that is to come.
    static let maximumEarly = 32
    /// How many former fragments are known: candidates of a description that eight have followed come no more.
    static let maximumFormer = 8

    init(_ configuration: PeerConnection.Configuration) {
        isRelayOnly = configuration.iceTransportPolicy == .relay
        resolvesHostNames = configuration.resolvesHostNames
    }

    // Descriptions that are to come, and that were.

    /// Whether the peer had a fragment before.
    func isFormer(_ fragment: String) -> Bool { formerFragments.contains(fragment) }

    /// Keeps a candidate for the description with this fragment; false where there is no room.
    mutating func keep(_ candidate: CandidateAttribute, for fragment: String) -> Bool {
        guard early.count < Self.maximumEarly else { return false }
        early.append((fragment, candidate))
        return true
    }

    /// The candidates that were kept for the description with this fragment.
    mutating func takeEarly(of fragment: String) -> [CandidateAttribute] {
        defer { early.removeAll { $0.fragment == fragment } }
        return early.filter { $0.fragment == fragment }.map(\.candidate)
    }

    /// The peer has restarted: what it told under the fragment before counts no more.
    mutating func restart(former fragment: String) {
        formerFragments = formerFragments.suffix(Self.maximumFormer - 1) + [fragment]
        (unresolvedNames, namesLeftOut) = ([], [])
    }

    // Names.

    /// Whether a name is to be resolved. To ask is to tell: DNS tells whoever serves the name, multicast DNS all of the
    /// link. Where relays alone may be used neither is told, and what a name of the link stands for is out of their reach.
    func isResolved(_ name: String) -> Bool {
        guard !isRelayOnly else { return false }
        return resolvesHostNames || MulticastDNSName(name) != nil
    }

    /// The candidates of the newest description that name a host instead of an address, and are to be resolved.
    var named: [CandidateAttribute] {
        newest.filter { candidate in
            if case .name(let name) = candidate.host { candidate.isCheckable && isResolved(name) } else { false }
        }
    }

    /// Takes note of a name. False where it is one more of those that are not asked for.
    mutating func note(_ name: String) -> Bool {
        guard !isResolved(name) else {
            unresolvedNames.insert(name)
            return true
        }
        return !namesLeftOut.insert(name).inserted
    }

    /// A name has an address.
    mutating func noteResolved(_ name: String) {
        unresolvedNames.remove(name)
    }

    /// No more addresses will come: how many names have none.
    mutating func takeUnresolved() -> Int {
        defer { unresolvedNames = [] }
        return unresolvedNames.count
    }
}

extension CandidateAttribute {
    /// Whether a candidate is of a kind that is checked: of UDP, or one that waits for TCP connections.
    var isCheckable: Bool { isUDP || tcpType == "passive" }
}
