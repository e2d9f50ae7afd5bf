internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A request under way.
struct Transaction: Sendable {
    enum Purpose: Sendable {
        case check(pair: Int, role: Role, nominates: Bool, priority: UInt32)
        case consent(pair: Int, role: Role)
        case gather(order: Int)
        /// Asks a relay's server what it sees of us.
        case relayBinding(Int)

        /// The pair that it is about.
        var pair: Int? {
            switch self {
            case .check(let pair, _, _, _), .consent(let pair, _): pair
            case .gather, .relayBinding: nil
            }
        }
    }

    let id: TransactionID
    let purpose: Purpose
    let base: TransportAddress
    let destination: TransportAddress
    let bytes: [UInt8]
    /// Over a stream a request is sent once (RFC 8489 §6.2.2), and once more where that is opened again.
    var isRepeated = true
    /// How often the stream that it goes over was opened again.
    var reopenings = 0
    var transmissions = 0
    /// How many transmissions the system refused to send.
    var refusals = 0
    let firstTransmission: Instant
    var latestTransmission: Instant
    /// From when on a check is not sent again.
    var limit: Instant
    /// When it is sent again, or given up.
    var due: Instant
    /// How long to wait after the next transmission.
    var wait: Duration

    /// Whether the system has refused every transmission so far.
    var isUnsent: Bool { refusals > 0 && refusals >= transmissions }
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

    /// Notes that the system refused the newest transmission from a base to a destination. Returns the requests of which
    /// none was sent yet. All stay on their schedule: a route can come back, as after a datagram that was lost.
    mutating func recordRefusal(from base: TransportAddress, to destination: TransportAddress) -> [Transaction] {
        for (id, transaction) in table where transaction.base == base && transaction.destination == destination {
            table[id]?.refusals = min(transaction.refusals + 1, transaction.transmissions)
        }
        return table.values.filter { $0.base == base && $0.destination == destination && $0.isUnsent }
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
            table[id]?.refusals = transaction.isUnsent ? 1 : 0
            table[id]?.transmissions = 1
            table[id]?.wait = wait
            table[id]?.limit = limit
            table[id]?.due = now
        }
    }

    /// Has a pair's check sent again over another stream in a while, as the one it went over is gone; false where the time
    /// for that is over, or there is none under way.
    mutating func reopen(of pair: Int, now: Instant) -> Bool {
        for (id, transaction) in table {
            guard case .check(pair, _, _, _) = transaction.purpose, transaction.transmissions != .max else { continue }
            let due = now.advanced(by: .seconds(1 << min(transaction.reopenings, 2)))
            guard due < transaction.limit else { continue }
            table[id]?.isRepeated = true
            table[id]?.reopenings += 1
            table[id]?.due = due
            return true
        }
        return false
    }

    /// Gives up what is asked of STUN servers.
    mutating func removeGathering() {
        table = table.filter { if case .gather = $0.value.purpose { false } else { true } }
    }

    /// Gives up what is asked of one STUN server.
    mutating func remove(ofGather order: Int) {
        table = table.filter { if case .gather(order) = $0.value.purpose { false } else { true } }
    }

    /// Whether one STUN server's answer is awaited.
    func hasGather(_ order: Int) -> Bool {
        table.values.contains { if case .gather(order) = $0.purpose { true } else { false } }
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
