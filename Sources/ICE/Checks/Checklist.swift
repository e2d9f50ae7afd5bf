internal import RTCShareWireFormat

/// The pairs, and which of them is checked next (RFC 8445 §6.1.2): those of the newest generation, and the one that media
/// is on while a restart is to replace it.
struct Checklist: Sendable {
    var pairs: [CandidatePair] = []
    /// The pair that media goes over.
    var selected: Int?
    /// The pair whose nominating check is queued or under way.
    private(set) var nominating: Int?
    /// The queue of triggered checks (RFC 8445 §6.1.4.1), nominations included.
    private(set) var triggered: [TriggeredCheck] = []
    /// When checks began; nil before, and after a restart until the peer's credentials are here.
    private(set) var checkingSince: Instant?
    /// When the next check may be sent; nil before the first.
    private(set) var paceOpens: Instant?
    /// When the first pair was found to work.
    private(set) var firstValid: Instant?
    /// Counts restarts.
    private(set) var generation = 0
    private var nextID = 0

    /// An entry of the triggered-check queue.
    struct TriggeredCheck: Sendable {
        let pair: Int
        let nominates: Bool
    }

    // Where a pair is.

    func index(_ id: Int) -> Int? {
        pairs.firstIndex { $0.id == id }
    }

    func index(base: TransportAddress, remote: TransportAddress) -> Int? {
        pairs.firstIndex { $0.generation == generation && $0.base == base && $0.remote.address == remote }
    }

    var selectedIndex: Int? {
        guard let selected else { return nil }
        return index(selected)
    }

    /// Whether a pair belongs to the newest generation.
    func isCurrent(_ index: Int) -> Bool { pairs[index].generation == generation }

    /// Whether media is on a pair that a restart is to replace.
    var isSelectedRetired: Bool { selectedIndex.map { !isCurrent($0) } ?? false }

    /// Whether the controlling agent's choice is known, so that no more pairs are tried (RFC 8445 §8.1.1).
    var isConcluded: Bool { selectedIndex.map { pairs[$0].isNominated && isCurrent($0) } ?? false }

    // Which pairs there are.

    /// Adds a pair, waiting or frozen (RFC 8445 §6.1.2.6, RFC 8838 §12); returns where it is.
    mutating func add(_ local: Candidate, _ remote: Candidate, priority: UInt64) -> Int {
        var pair = CandidatePair(
            id: nextID, base: local.base, generation: generation, local: local, remote: remote, state: .frozen,
            priority: priority)
        nextID += 1
        let others = pairs.filter { $0.generation == generation && $0.foundation == pair.foundation }
        if others.isEmpty || others.contains(where: { $0.state == .succeeded }) {
            pair.state = .waiting
        } else if let first = others.first(where: { $0.state == .waiting }), first.priority < priority,
            let index = index(first.id), first.statistics.requestsSent == 0
        {
            // The best of a foundation goes first.
            pairs[index].state = .frozen
            pair.state = .waiting
        }
        pairs.append(pair)
        return pairs.count - 1
    }

    /// Gives up the worst pair for one of a priority; false where none is worse, or all are needed.
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

    /// Begins the next generation: of the pairs only the one that media is on stays.
    mutating func restart() {
        pairs = selectedIndex.map { [pairs[$0]] } ?? []
        triggered = []
        nominating = nil
        (checkingSince, firstValid) = (nil, nil)
        generation += 1
    }

    /// Lets go of the pair that a restart has replaced.
    mutating func removeFormer() {
        pairs.removeAll { $0.generation != generation }
    }

    // Checks.

    /// Checks begin.
    mutating func begin(now: Instant) {
        checkingSince = now
    }

    /// A check was sent: the next one waits until then.
    mutating func pace(until opens: Instant) {
        paceOpens = opens
    }

    /// The next pair to check without cause: the best waiting one, else the best frozen one of a foundation that
    /// nothing is under way for (RFC 8445 §6.1.4.2).
    func nextOrdinaryPair() -> Int? {
        guard !isConcluded else { return nil }
        let waiting = pairs.indices.filter { pairs[$0].state == .waiting }
        if let best = waiting.max(by: { pairs[$0].priority < pairs[$1].priority }) { return best }
        let busy = Set(pairs.filter { $0.state == .inProgress && $0.isOpen }.map(\.foundation))
        let frozen = pairs.indices.filter { pairs[$0].state == .frozen && !busy.contains(pairs[$0].foundation) }
        return frozen.max { pairs[$0].priority < pairs[$1].priority }
    }

    /// The first triggered check whose pair is still there.
    mutating func takeTriggered() -> (index: Int, nominates: Bool)? {
        while !triggered.isEmpty {
            let check = triggered.removeFirst()
            if let index = index(check.pair) { return (index, check.nominates) }
        }
        return nil
    }

    /// Has a pair checked, unless it may not be used any more.
    mutating func trigger(_ index: Int) {
        let id = pairs[index].id
        guard isCurrent(index), !pairs[index].hasLostConsent else { return }
        pairs[index].state = .waiting
        guard !triggered.contains(where: { $0.pair == id }) else { return }
        triggered.append(TriggeredCheck(pair: id, nominates: false))
    }

    /// Has a pair that works checked once more.
    mutating func confirm(_ index: Int) {
        triggered.append(TriggeredCheck(pair: pairs[index].id, nominates: false))
    }

    /// Has a pair checked as the controlling agent's choice, before all others.
    mutating func nominate(_ index: Int) {
        nominating = pairs[index].id
        triggered.insert(TriggeredCheck(pair: pairs[index].id, nominates: true), at: 0)
    }

    /// A pair was nominated: its check is no longer waited for.
    mutating func endNomination(of index: Int) {
        pairs[index].awaitsNomination = false
        if nominating == pairs[index].id { nominating = nil }
    }

    /// No nomination is waited for any longer.
    mutating func cancelNomination() {
        nominating = nil
    }

    /// Nominations belong to a role that was given up.
    mutating func forgetNominations() {
        nominating = nil
        triggered = triggered.map { TriggeredCheck(pair: $0.pair, nominates: false) }
        for index in pairs.indices { pairs[index].awaitsNomination = false }
    }

    /// A check was answered as it should: the pair is valid.
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

    /// Nothing is sent any more.
    mutating func stop() {
        triggered = []
        selected = nil
    }
}
