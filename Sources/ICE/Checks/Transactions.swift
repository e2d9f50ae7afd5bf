internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A request under way.
struct Transaction: Sendable {
    enum Purpose: Sendable {
        case check(pair: Int, role: Role, nominates: Bool, priority: UInt32)
        case consent(pair: Int)
        case gather(order: Int)

        /// The pair that it is about.
        var pair: Int? {
            switch self {
            case .check(let pair, _, _, _), .consent(let pair): pair
            case .gather: nil
            }
        }
    }

    let id: TransactionID
    let purpose: Purpose
    let base: TransportAddress
    let destination: TransportAddress
    let bytes: [UInt8]
    /// Over a stream a request is sent once (RFC 8489 §6.2.2).
    var isRepeated = true
    var transmissions = 0
    let firstTransmission: Instant
    var latestTransmission: Instant
    /// From when on a check is not sent again.
    var limit: Instant
    /// When it is sent again, or given up.
    var due: Instant
    /// How long to wait after the next transmission.
    var wait: Duration
}

/// Our requests that are under way.
struct Transactions: Sendable {
    private var table: [TransactionID: Transaction] = [:]

    var count: Int { table.count }

    subscript(id: TransactionID) -> Transaction? {
        get { table[id] }
        set { table[id] = newValue }
    }

    /// When each is sent again, or given up.
    var deadlines: [Instant] { table.values.map(\.due) }

    /// Those that are to be sent again or given up, in the order in which they were to be.
    func due(now: Instant) -> [TransactionID] {
        table.values.filter { $0.due <= now }.sorted { $0.due < $1.due }.map(\.id)
    }

    /// Those that go from a base to a destination.
    func between(_ base: TransportAddress, _ destination: TransportAddress) -> [Transaction] {
        table.values.filter { $0.base == base && $0.destination == destination }
    }

    /// Another check of a pair follows: those under way may still be answered, but no longer speak for its failure.
    mutating func supersedeChecks(of pair: Int) {
        for (id, transaction) in table {
            if case .check(pair, _, _, _) = transaction.purpose { table[id]?.transmissions = .max }
        }
    }

    /// Has the check of a pair that is under way sent again, as from the start: it was last sent `pause` ago or earlier,
    /// and waits for `wait` from then on, until `limit`.
    mutating func hastenCheck(of pair: Int, pause: Duration, wait: Duration, limit: Instant, now: Instant) {
        for (id, transaction) in table {
            guard case .check(pair, _, _, _) = transaction.purpose, transaction.transmissions != .max,
                transaction.isRepeated, now - transaction.latestTransmission >= pause
            else { continue }
            // Counted from one, as a round trip can no longer be told from this answer.
            table[id]?.transmissions = 1
            table[id]?.wait = wait
            table[id]?.limit = limit
            table[id]?.due = now
        }
    }

    /// Gives up what is asked of STUN servers.
    mutating func removeGathering() {
        table = table.filter { if case .gather = $0.value.purpose { false } else { true } }
    }

    /// Gives up all checks; consent goes on.
    mutating func removeChecks() {
        table = table.filter { if case .check = $0.value.purpose { false } else { true } }
    }

    /// Gives up what is about a pair.
    mutating func remove(of pair: Int) {
        table = table.filter { $0.value.purpose.pair != pair }
    }

    /// Gives up what goes from bases that are gone.
    mutating func remove(from bases: [TransportAddress]) {
        table = table.filter { !bases.contains($0.value.base) }
    }

    mutating func removeAll() {
        table = [:]
    }
}
