internal import RTCShareSTUN
internal import RTCShareWireFormat

/// Determines the connection of each datagram at a shared port. It does no I/O, like the tables of its owner.
///
/// A request has the user name fragment of its connection, a response the transaction of its request. Everything else
/// is assigned by its source, which belongs to a connection only after that connection has shown that it accepts it: it
/// answered a check from there with success or, with higher weight after an answer from there, it nominated the pair or
/// sent data other than STUN. An address in use keeps its connection, so that the peer of one connection can't take an
/// address from another by forging the source of its checks.
struct PortDemultiplexer {
    typealias Member = Int

    /// The counts of received datagrams that could not be assigned.
    struct Statistics: Hashable, Sendable {
        /// The number of requests with an unknown fragment.
        var unknownFragments = 0
        /// The number of responses with an unknown transaction.
        var unknownTransactions = 0
        /// The number of other datagrams from an unknown source.
        var unknownSources = 0
        /// The number of invalid STUN messages.
        var malformed = 0
        /// The number of addresses that one connection claimed while another used them.
        var contested = 0
    }

    private struct Path: Hashable {
        let local: TransportAddress
        let remote: TransportAddress
    }

    private struct Claim {
        let member: Member
        var used: Instant
        /// Whether the peer at the address has answered the connection.
        var isConfirmed: Bool
    }

    private struct Membership {
        var fragments: [String] = []
        /// In the order of their start; the oldest are removed first.
        var transactions: [TransactionID] = []
        var paths: [Path] = []
    }

    private(set) var statistics = Statistics()
    private var members: [Member: Membership] = [:]
    private var fragments: [String: Member] = [:]
    private var transactions: [TransactionID: Member] = [:]
    private var claims: [Path: Claim] = [:]
    private var nextMember = 0

    /// The maximum number of transactions and addresses of each connection; more replace its own oldest.
    static let transactionLimit = 256
    static let pathLimit = 64
    /// The time after which an unused address of a connection is free: that of consent (RFC 7675).
    static let claimLifetime = Duration.seconds(30)

    /// Adds a connection.
    mutating func join() -> Member {
        defer { nextMember += 1 }
        members[nextMember] = Membership()
        return nextMember
    }

    /// Assigns requests with these fragments to `member`, except for fragments of other connections, and removes its
    /// previous ones. The connection knows its current fragments, which are few.
    mutating func register(_ live: [String], of member: Member) {
        guard let membership = members[member] else { return }
        for fragment in membership.fragments where !live.contains(fragment) { fragments[fragment] = nil }
        for fragment in live where fragments[fragment] == nil { fragments[fragment] = member }
        members[member]?.fragments = live.filter { fragments[$0] == member }
    }

    /// Removes a connection.
    mutating func leave(_ member: Member) {
        guard let membership = members.removeValue(forKey: member) else { return }
        for fragment in membership.fragments { fragments[fragment] = nil }
        for id in membership.transactions { transactions[id] = nil }
        for path in membership.paths where claims[path]?.member == member { claims[path] = nil }
    }

    /// Returns the connection of a datagram; nil, and counts it, if there is none.
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
            // The receiver's fragment is first (RFC 8445 §7.2.2).
            return member(of: message.username?.split(separator: ":", maxSplits: 1).first.map(String.init))
        case .successResponse, .errorResponse:
            if let member = transactions[message.transactionID] { return member }
            statistics.unknownTransactions += 1
        case .indication: return owner(of: Path(local: local, remote: remote))
        }
        return nil
    }

    /// Returns the connection with a user name fragment; nil, and counts it, if there is none.
    mutating func member(of fragment: String?) -> Member? {
        if let member = fragment.flatMap({ fragments[$0] }) { return member }
        statistics.unknownFragments += 1
        return nil
    }

    private mutating func owner(of path: Path) -> Member? {
        if let claim = claims[path] { return claim.member }
        statistics.unknownSources += 1
        return nil
    }

    /// Records the information in a datagram that a connection sends.
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
        // Many at once, so that the array is seldom moved.
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
