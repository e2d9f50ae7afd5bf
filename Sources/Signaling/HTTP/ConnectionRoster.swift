internal import RTCShareWireFormat

/// The open connections, and the choice of the one to close for another.
///
/// A connection is a stranger's until a request on it has shown an accepted token. At the limit, the oldest connection
/// of the lowest rank is closed, strangers' first, so that many silent connections exclude nobody. Strangers of one
/// network never have more than their share.
struct ConnectionRoster<ID: Hashable & Sendable>: Sendable {
    /// The outcome for a new connection.
    enum Entrance: Hashable, Sendable {
        /// It is accepted; this one must be closed for it.
        case admitted(closing: ID?)
        /// It is rejected: invited clients use all others.
        case refused
    }

    private struct Entry {
        /// The client's network; nil for this machine's own, on which a proxy may have many clients.
        let network: IPAddress?
        let number: Int
        var isAnswering = false
        var isInvited = false

        /// The rank, of which the lowest is closed first; nil if it must not be closed.
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

    /// Changes the identifier of a connection. Returns false if there is no such connection.
    mutating func rename(_ id: ID, to new: ID) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        entries[new] = entry
        return true
    }

    /// Records that a connection carries an invited client's media, and must not be closed.
    mutating func setMedia(_ id: ID) {
        setInvited(id)
        beginAnswer(id)
    }

    /// Records that a whole request has arrived.
    mutating func beginAnswer(_ id: ID) { entries[id]?.isAnswering = true }

    /// Records that a request has shown an accepted token.
    mutating func setInvited(_ id: ID) { entries[id]?.isInvited = true }

    /// Records that the answer has been sent.
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
