internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A pending request.
struct Transaction: Sendable {
    enum Purpose: Sendable {
        case check(pair: Int, role: Role, nominates: Bool, priority: UInt32)
        case consent(pair: Int, role: Role)
        case gather(order: Int)
        /// A Binding request to a TURN server for our mapped address.
        case relayBinding(Int)

        /// The pair of the request.
        var pair: Int? {
            switch self {
            case .check(let pair, _, _, _), .consent(let pair, _): pair
            case .gather, .relayBinding: nil
            }
        }
    }

    let id: TransactionID
    let purpose: Purpose
    let base: BaseAddress
    let destination: TransportAddress
    let bytes: [UInt8]
    /// Whether the request is retransmitted. Over a stream it is sent once (RFC 8489 §6.2.2), and once more if the
    /// stream is reopened.
    var isRepeated = true
    /// The number of times that its stream was reopened.
    var reopenings = 0
    var transmissions = 0
    /// The number of transmissions that the system rejected.
    var refusals = 0
    let firstTransmission: Instant
    var latestTransmission: Instant
    /// The time after which a check is not retransmitted.
    var limit: Instant
    /// The time of the next retransmission or of the failure.
    var due: Instant
    /// The time to wait after the next transmission.
    var wait: Duration

    /// Whether the system has rejected every transmission so far.
    var isUnsent: Bool { refusals > 0 && refusals >= transmissions }
}

/// Our pending requests.
struct Transactions: Sendable {
    private var table: [TransactionID: Transaction] = [:]

    var count: Int { table.count }

    subscript(id: TransactionID) -> Transaction? {
        get { table[id] }
        set { table[id] = newValue }
    }

    /// The times at which requests are retransmitted or fail.
    var deadlines: [Instant] { table.values.map(\.due) }

    /// Returns the requests that must be retransmitted or fail, in the order of their times.
    func due(now: Instant) -> [TransactionID] {
        table.values.filter { $0.due <= now }.sorted { $0.due < $1.due }.map(\.id)
    }

    /// Records that the system rejected the latest transmission from a base to a destination. Returns the requests
    /// without any successful transmission. All stay on schedule, since a route can come back.
    mutating func recordRefusal(from base: BaseAddress, to destination: TransportAddress) -> [Transaction] {
        for (id, transaction) in table where transaction.base == base && transaction.destination == destination {
            table[id]?.refusals = min(transaction.refusals + 1, transaction.transmissions)
        }
        return table.values.filter { $0.base == base && $0.destination == destination && $0.isUnsent }
    }

    /// Replaces the pending checks of a pair by a new one. They can still be answered, but their timeouts no longer
    /// fail the pair.
    mutating func supersedeChecks(of pair: Int) {
        for (id, transaction) in table {
            if case .check(pair, _, _, _) = transaction.purpose { table[id]?.transmissions = .max }
        }
    }

    /// Restarts the retransmissions of a pair's pending check if its last transmission is at least `pause` old. The
    /// check then waits for `wait`, and its retransmissions end at `limit`.
    mutating func hastenCheck(of pair: Int, pause: Duration, wait: Duration, limit: Instant, now: Instant) {
        for (id, transaction) in table {
            guard case .check(pair, _, _, _) = transaction.purpose, transaction.transmissions != .max,
                transaction.isRepeated, now - transaction.latestTransmission >= pause
            else { continue }
            // The count restarts at one, but the answer no longer determines the round-trip time.
            table[id]?.refusals = transaction.isUnsent ? 1 : 0
            table[id]?.transmissions = 1
            table[id]?.wait = wait
            table[id]?.limit = limit
            table[id]?.due = now
        }
    }

    /// Schedules another transmission of a pair's check over a new stream, since its stream was closed. Returns false
    /// if it is too late for that, or no check is pending.
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

    /// Cancels the requests to STUN servers.
    mutating func removeGathering() {
        table = table.filter { if case .gather = $0.value.purpose { false } else { true } }
    }

    /// Cancels the request to one STUN server.
    mutating func remove(ofGather order: Int) {
        table = table.filter { if case .gather(order) = $0.value.purpose { false } else { true } }
    }

    /// Whether a request to one STUN server is pending.
    func hasGather(_ order: Int) -> Bool {
        table.values.contains { if case .gather(order) = $0.purpose { true } else { false } }
    }

    /// Cancels all checks except consent checks.
    mutating func removeChecks() {
        table = table.filter { if case .check = $0.value.purpose { false } else { true } }
    }

    /// Cancels the requests of a pair.
    mutating func remove(of pair: Int) {
        table = table.filter { $0.value.purpose.pair != pair }
    }

    /// Cancels the requests from removed bases.
    mutating func remove(from bases: [BaseAddress]) {
        table = table.filter { !bases.contains($0.value.base) }
    }

    mutating func removeAll() {
        table = [:]
    }
}
