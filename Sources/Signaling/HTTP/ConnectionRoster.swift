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
            let isStranger = { (entry: Entry) in entry.network == network && !entry.isInvited }
            let count = entries.values.count(where: isStranger)
            if count >= strangersPerNetwork { spared = leastNeeded(where: isStranger) }
        }
        if spared == nil, entries.count >= limit {
            spared = leastNeeded { _ in true }
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
    mutating func setInvited(_ id: ID) { entries[id]?.isInvited = true }

    /// The answer has been sent.
    mutating func endAnswer(_ id: ID) { entries[id]?.isAnswering = false }

    private func leastNeeded(where isConsidered: (Entry) -> Bool) -> ID? {
        var least: (id: ID, rank: Int, number: Int)?
        for (id, entry) in entries where isConsidered(entry) {
            guard let rank = entry.rank else { continue }
            if least.map({ (rank, entry.number) < ($0.rank, $0.number) }) ?? true { least = (id, rank, entry.number) }
        }
        return least?.id
    }
}
