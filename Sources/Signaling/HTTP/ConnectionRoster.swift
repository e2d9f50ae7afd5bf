internal import RTCShareWireFormat

/// The connections that are open, and which of them makes room for another.
///
/// A connection is a stranger's until a request over it has shown an accepted token. When all places are taken, the oldest
/// connection that can be spared is closed, strangers' first, so that a crowd of silent connections keeps nobody out.
/// Strangers of one network never take more than their share.
struct ConnectionRoster<ID: Hashable & Sendable>: Sendable {
    /// What becomes of a new connection.
    enum Entrance: Hashable, Sendable {
        /// It stays; this one is to be closed for it.
        case admitted(closing: ID?)
        /// All others are in use by invited clients.
        case refused
    }

    private struct Entry {
        /// Nil for this machine's own, behind which a proxy may have many clients.
        let network: IPAddress?
        let number: Int
        var isAnswering = false
        var isInvited = false

        /// What can be spared first has the lowest number; nil for what can't.
        var rank: Int? {
            switch (isInvited, isAnswering) {
            case (false, false): 0
            case (false, true): 1
            case (true, false): 2
            case (true, true): nil
            }
        }
    }

    private var entries: [ID: Entry] = [:]
    private var admitted = 0
    private let limit: Int
    private let strangersPerNetwork: Int

    init(limit: Int, strangersPerNetwork: Int) {
        (self.limit, self.strangersPerNetwork) = (limit, strangersPerNetwork)
    }

    var count: Int { entries.count }

    mutating func enter(_ id: ID, from client: IPAddress?) -> Entrance {
        let network = client.flatMap { $0.isLoopback ? nil : $0.clientNetwork }
        var spared: ID?
        if let network {
            let strangers = entries.filter { $0.value.network == network && !$0.value.isInvited }
            if strangers.count >= strangersPerNetwork { spared = Self.leastNeeded(of: strangers) }
        }
        if spared == nil, entries.count >= limit {
            spared = Self.leastNeeded(of: entries)
            if spared == nil { return .refused }
        }
        if let spared { entries[spared] = nil }
        admitted += 1
        entries[id] = Entry(network: network, number: admitted)
        return .admitted(closing: spared)
    }

    mutating func leave(_ id: ID) { entries[id] = nil }

    /// A whole request has arrived.
    mutating func beginAnswer(_ id: ID) { entries[id]?.isAnswering = true }

    /// A request has shown an accepted token.
    mutating func noteInvited(_ id: ID) { entries[id]?.isInvited = true }

    /// The answer has been sent.
    mutating func endAnswer(_ id: ID) { entries[id]?.isAnswering = false }

    private static func leastNeeded(of entries: [ID: Entry]) -> ID? {
        entries.compactMap { id, entry in entry.rank.map { (id, $0, entry.number) } }
            .min { ($0.1, $0.2) < ($1.1, $1.2) }?.0
    }
}
