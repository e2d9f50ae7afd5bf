internal import RTCShareSTUN
internal import RTCShareWireFormat

/// Says whom a datagram at a shared port is for: without input or output, as its owner's tables.
///
/// A request says it by the user name fragment it is for, a response by the transaction that one of the connections
/// began. Everything else goes by its source, which is believed to be a connection's only once that connection has
/// shown that it accepts it: it answered a check from there with success; or, which weighs more, as somebody there has
/// answered it, it nominated the pair or sent something else than STUN there. An address that is in use stays whose it
/// is, so that a peer of one connection takes nothing from another by forging where its checks come from.
struct PortDemultiplexer {
    typealias Member = Int

    /// What became of what arrived.
    struct Statistics: Hashable, Sendable {
        /// Requests for nobody here.
        var unknownFragments = 0
        /// Responses to no transaction of ours.
        var unknownTransactions = 0
        /// Anything else from an address that is nobody's.
        var unknownSources = 0
        /// STUN that can't be read.
        var malformed = 0
        /// Addresses that one connection claimed while they served another.
        var contested = 0
    }

    private struct Path: Hashable {
        let local: TransportAddress
        let remote: TransportAddress
    }

    private struct Claim {
        let member: Member
        var used: Instant
        /// Whether somebody at the address has answered the connection.
        var isConfirmed: Bool
    }

    private struct Membership {
        var fragments: [String] = []
        /// In the order in which they began; the oldest are forgotten first.
        var transactions: [TransactionID] = []
        var paths: [Path] = []
    }

    private(set) var statistics = Statistics()
    private var members: [Member: Membership] = [:]
    private var fragments: [String: Member] = [:]
    private var transactions: [TransactionID: Member] = [:]
    private var claims: [Path: Claim] = [:]
    private var nextMember = 0

    /// Each connection is remembered for so much; more pushes out its own oldest.
    static let transactionLimit = 256
    static let pathLimit = 64
    /// An address that a connection did not use for as long as consent lasts (RFC 7675) is free.
    static let claimLifetime = Duration.seconds(30)

    /// A new connection.
    mutating func join() -> Member {
        defer { nextMember += 1 }
        members[nextMember] = Membership()
        return nextMember
    }

    /// Requests to these fragments are for `member`, but for those that another connection has; those to fragments that it
    /// had before are for nobody. Which are in use the connection knows: it has a few.
    mutating func register(_ live: [String], of member: Member) {
        guard let membership = members[member] else { return }
        for fragment in membership.fragments where !live.contains(fragment) { fragments[fragment] = nil }
        for fragment in live where fragments[fragment] == nil { fragments[fragment] = member }
        members[member]?.fragments = live.filter { fragments[$0] == member }
    }

    /// Forgets a connection.
    mutating func leave(_ member: Member) {
        guard let membership = members.removeValue(forKey: member) else { return }
        for fragment in membership.fragments { fragments[fragment] = nil }
        for id in membership.transactions { transactions[id] = nil }
        for path in membership.paths where claims[path]?.member == member { claims[path] = nil }
    }

    /// Whom a datagram is for; nil for nobody, which is counted.
    mutating func member(for bytes: RawSpan, from remote: TransportAddress, at local: TransportAddress) -> Member? {
        guard STUNMessage.isSTUN(bytes) else { return owner(of: Path(local: local, remote: remote)) }
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: bytes)
        } catch {
            statistics.malformed += 1
            return nil
        }
        switch message.messageClass {
        case .request:
            // The receiver's fragment stands first (RFC 8445 §7.2.2).
            let fragment = message.username?.split(separator: ":", maxSplits: 1).first.map(String.init)
            if let member = fragment.flatMap({ fragments[$0] }) { return member }
            statistics.unknownFragments += 1
        case .successResponse, .errorResponse:
            if let member = transactions[message.transactionID] { return member }
            statistics.unknownTransactions += 1
        case .indication: return owner(of: Path(local: local, remote: remote))
        }
        return nil
    }

    private mutating func owner(of path: Path) -> Member? {
        if let claim = claims[path] { return claim.member }
        statistics.unknownSources += 1
        return nil
    }

    /// Learns from what a connection sends.
    mutating func note(
        _ bytes: RawSpan, sentBy member: Member, from local: TransportAddress, to remote: TransportAddress, now: Instant
    ) {
        let path = Path(local: local, remote: remote)
        guard STUNMessage.isSTUN(bytes) else { return claim(path, for: member, isConfirmed: true, now: now) }
        guard let message = try? STUNMessage(parsing: bytes) else { return }
        switch message.messageClass {
        case .request:
            note(message.transactionID, begunBy: member)
            if message.attributes.contains(.useCandidate) { claim(path, for: member, isConfirmed: true, now: now) }
        case .successResponse: claim(path, for: member, isConfirmed: false, now: now)
        case .errorResponse, .indication: return
        }
    }

    private mutating func note(_ id: TransactionID, begunBy member: Member) {
        guard transactions[id] == nil else { return }
        transactions[id] = member
        members[member]?.transactions.append(id)
        guard let known = members[member]?.transactions, known.count > 2 * Self.transactionLimit else { return }
        // Many at once, so that the array is moved seldom.
        for old in known.prefix(Self.transactionLimit) { transactions[old] = nil }
        members[member]?.transactions.removeFirst(Self.transactionLimit)
    }

    private mutating func claim(_ path: Path, for member: Member, isConfirmed: Bool, now: Instant) {
        if let claim = claims[path] {
            if claim.member == member {
                claims[path]?.used = now
                if isConfirmed { claims[path]?.isConfirmed = true }
                return
            }
            let isFree = now - claim.used > Self.claimLifetime
            guard isFree || isConfirmed && !claim.isConfirmed else { return statistics.contested += 1 }
            members[claim.member]?.paths.removeAll { $0 == path }
        }
        guard members[member] != nil else { return }
        claims[path] = Claim(member: member, used: now, isConfirmed: isConfirmed)
        members[member]?.paths.append(path)
        guard let paths = members[member]?.paths, paths.count > Self.pathLimit,
            let oldest = paths.min(by: { (claims[$0]?.used ?? now) < (claims[$1]?.used ?? now) })
        else { return }
        claims[oldest] = nil
        members[member]?.paths.removeAll { $0 == oldest }
    }
}
