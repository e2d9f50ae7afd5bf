internal import RTCShareWireFormat

/// The candidate pairs and the order of their checks (RFC 8445 §6.1.2): the pairs of the newest generation, and the
/// pair that carries media until a restart replaces it.
struct Checklist: Sendable {
    var pairs: [CandidatePair] = []
    /// The identifier of the selected pair, which carries media.
    var selected: Int?
    /// The pair whose nominating check is queued or in progress.
    private(set) var nominating: Int?
    /// The queue of triggered checks (RFC 8445 §6.1.4.1), including nominations.
    private(set) var triggered: [TriggeredCheck] = []
    /// The start of checks; nil before, and between a restart and the peer's new credentials.
    private(set) var checkingSince: Instant?
    /// The earliest time of the next check; nil before the first.
    private(set) var paceOpens: Instant?
    /// The time at which the first pair became valid.
    private(set) var firstValid: Instant?
    /// The number of restarts.
    private(set) var generation = 0
    private var nextID = 0

    /// An entry of the triggered-check queue.
    struct TriggeredCheck: Sendable {
        let pair: Int
        let nominates: Bool
    }

    // The places of pairs.

    func index(_ id: Int) -> Int? {
        pairs.firstIndex { $0.id == id }
    }

    func index(base: BaseAddress, remote: TransportAddress) -> Int? {
        pairs.firstIndex { $0.generation == generation && $0.base == base && $0.remote.address == remote }
    }

    var selectedIndex: Int? {
        guard let selected else { return nil }
        return index(selected)
    }

    /// Whether a pair belongs to the newest generation.
    func isCurrent(_ index: Int) -> Bool { pairs[index].generation == generation }

    /// Whether the selected pair is one that a restart will replace.
    var isSelectedRetired: Bool { selectedIndex.map { !isCurrent($0) } ?? false }

    /// Whether a pair of the newest generation is nominated, so that no more pairs are checked (RFC 8445 §8.1.1).
    var isConcluded: Bool { selectedIndex.map { pairs[$0].isNominated && isCurrent($0) } ?? false }

    // The set of pairs.

    /// Adds a pair, waiting or frozen (RFC 8445 §6.1.2.6, RFC 8838 §12). Returns its index.
    mutating func add(_ local: Candidate, _ remote: Candidate, priority: UInt64) -> Int {
        var pair = CandidatePair(
            id: nextID, base: local.baseAddress, generation: generation, local: local, remote: remote, state: .frozen,
            priority: priority)
        nextID += 1
        let others = pairs.filter { $0.generation == generation && $0.foundation == pair.foundation }
        if others.isEmpty || others.contains(where: { $0.state == .succeeded }) {
            pair.state = .waiting
        } else if let first = others.first(where: { $0.state == .waiting }), first.priority < priority,
            let index = index(first.id), first.statistics.requestsSent == 0
        {
            // The best pair of a foundation is checked first.
            pairs[index].state = .frozen
            pair.state = .waiting
        }
        pairs.append(pair)
        return pairs.count - 1
    }

    /// Removes the worst pair for a pair of `priority`. Returns false if none is worse, or all are in use.
    mutating func makeRoom(for priority: UInt64) -> Bool {
        let expendable = pairs.indices.filter {
            pairs[$0].state != .succeeded && pairs[$0].state != .inProgress && pairs[$0].id != selected
        }
        guard let worst = expendable.min(by: { pairs[$0].priority < pairs[$1].priority }),
            pairs[worst].priority < priority || pairs[worst].state == .failed
        else { return false }
        let id = pairs[worst].id
        triggered.removeAll { $0.pair == id }
        pairs.remove(at: worst)
        return true
    }

    /// Starts the next generation. Only the selected pair stays.
    mutating func restart() {
        pairs = selectedIndex.map { [pairs[$0]] } ?? []
        triggered = []
        nominating = nil
        // The checks of the former generation do not delay those of the new one.
        (checkingSince, firstValid, paceOpens) = (nil, nil, nil)
        generation += 1
    }

    /// Removes the pair that a restart has replaced.
    mutating func removeFormer() {
        pairs.removeAll { $0.generation != generation }
    }

    // Checks.

    /// Records the start of checks.
    mutating func begin(now: Instant) {
        checkingSince = now
    }

    /// Records the earliest time of the next check.
    mutating func pace(until opens: Instant) {
        paceOpens = opens
    }

    /// Returns the pair of the next ordinary check: the best waiting one, or else the best frozen one of a foundation
    /// without a check in progress (RFC 8445 §6.1.4.2).
    func nextOrdinaryPair() -> Int? {
        let waiting = pairs.indices.filter { pairs[$0].state == .waiting }
        if let best = waiting.max(by: { pairs[$0].priority < pairs[$1].priority }) { return best }
        let busy = Set(pairs.filter { $0.state == .inProgress && $0.isOpen }.map(\.foundation))
        let frozen = pairs.indices.filter { pairs[$0].state == .frozen && !busy.contains(pairs[$0].foundation) }
        return frozen.max { pairs[$0].priority < pairs[$1].priority }
    }

    /// Removes and returns the first triggered check whose pair still exists.
    mutating func takeTriggered() -> (index: Int, nominates: Bool)? {
        while !triggered.isEmpty {
            let check = triggered.removeFirst()
            if let index = index(check.pair) { return (index, check.nominates) }
        }
        return nil
    }

    /// Triggers a check of a pair, unless the pair must not be used any more.
    mutating func trigger(_ index: Int) {
        let id = pairs[index].id
        guard isCurrent(index), !pairs[index].hasLostConsent else { return }
        pairs[index].state = .waiting
        guard !triggered.contains(where: { $0.pair == id }) else { return }
        triggered.append(TriggeredCheck(pair: id, nominates: false))
    }

    /// Triggers another check of a working pair.
    mutating func confirm(_ index: Int) {
        triggered.append(TriggeredCheck(pair: pairs[index].id, nominates: false))
    }

    /// Triggers the nominating check of a pair, before all other checks.
    mutating func nominate(_ index: Int) {
        nominating = pairs[index].id
        triggered.insert(TriggeredCheck(pair: pairs[index].id, nominates: true), at: 0)
    }

    /// Ends the nomination of a pair.
    mutating func endNomination(of index: Int) {
        pairs[index].awaitsNomination = false
        if nominating == pairs[index].id { nominating = nil }
    }

    /// Cancels the pending nomination.
    mutating func cancelNomination() {
        nominating = nil
    }

    /// Cancels nominations, since they belong to the former role.
    mutating func forgetNominations() {
        nominating = nil
        triggered = triggered.map { TriggeredCheck(pair: $0.pair, nominates: false) }
        for index in pairs.indices { pairs[index].awaitsNomination = false }
    }

    /// Marks a pair as valid after a successful check.
    mutating func succeed(_ index: Int, now: Instant) {
        let id = pairs[index].id
        pairs[index].state = .succeeded
        triggered.removeAll { $0.pair == id && !$0.nominates }
        if firstValid == nil { firstValid = now }
    }

    mutating func fail(_ index: Int, as fate: PairFate? = nil) {
        let id = pairs[index].id
        pairs[index].state = .failed
        if let fate { pairs[index].failure = fate }
        pairs[index].awaitsNomination = false
        triggered.removeAll { $0.pair == id }
        if nominating == id { nominating = nil }
    }

    /// Clears the selection and the triggered checks.
    mutating func stop() {
        triggered = []
        selected = nil
    }
}
