/// Who of a room is sent the same encode: the rules, in virtual time.
///
///     rung 0    viewers whose paths carry half or more of what the best one's does
///     rung 1    of the others, those with half or more of what the best of them has
///     rung 2    the rest
///
/// What a rung is encoded at is what the least of its viewers can take; so nobody takes more than half from another, and
/// a rung that nobody is in is not encoded. A viewer goes down soon and comes up late, since each move costs a key frame.
struct QualityRungs<Viewer: Hashable> {
    /// Encodes at a time.
    static var mostRungs: Int { 3 }
    /// Of what the best of a rung has, what one has to have to be in it; and to come up into it.
    static var leastShare: Double { 0.5 }
    static var climbingShare: Double { 0.6 }
    /// How long a path has to be too poor, and good enough.
    static var descentPatience: Duration { .seconds(1) }
    static var climbPatience: Duration { .seconds(5) }
    /// How long nobody is judged by what was found out of a new path.
    static var trial: Duration { .seconds(2) }

    private struct Place {
        var rung = 0
        let since: Duration
        /// Bits a second that the path carries; nil until that is known.
        var rate: Int?
        /// Whether nothing goes there for now.
        var isWithheld = false
        /// Where it should be, and since when.
        var wish: (rung: Int, since: Duration)?
    }

    private var places: [Viewer: Place] = [:]

    /// A viewer came: it begins in rung 0.
    mutating func add(_ viewer: Viewer, now: Duration) {
        places[viewer] = Place(since: now)
    }

    /// A viewer left.
    mutating func remove(_ viewer: Viewer) {
        places[viewer] = nil
    }

    /// What a viewer's path carries, in bits a second.
    mutating func setRate(_ rate: Int, of viewer: Viewer) {
        places[viewer]?.rate = rate
    }

    /// Whether nothing is sent to a viewer for now: it then holds nobody back.
    mutating func setWithheld(_ isWithheld: Bool, _ viewer: Viewer) {
        places[viewer]?.isWithheld = isWithheld
    }

    /// The rung that a viewer is in.
    func rung(of viewer: Viewer) -> Int { places[viewer]?.rung ?? 0 }

    /// What a rung may take, in bits a second: nil where nothing is known of its viewers' paths.
    func rate(of rung: Int, now: Duration) -> Int? {
        let all = places.values.filter { $0.rung == rung && $0.rate != nil }
        let judged = all.filter { !$0.isWithheld && now >= $0.since + Self.trial }
        // Who is alone, or new like all others, is who there is to go by.
        return (judged.isEmpty ? all : judged).compactMap(\.rate).min()
    }

    /// Who is to be sent another rung from now on.
    mutating func moves(now: Duration) -> [(viewer: Viewer, rung: Int)] {
        let bases = bases(now: now)
        guard !bases.isEmpty else { return [] }
        var moves: [(viewer: Viewer, rung: Int)] = []
        for (viewer, place) in places {
            guard let rate = place.rate, now >= place.since + Self.trial else { continue }
            let wanted = Self.rung(for: rate, now: place.rung, bases: bases)
            guard wanted != place.rung else {
                places[viewer]?.wish = nil
                continue
            }
            let since = place.wish.flatMap { $0.rung == wanted ? $0.since : nil } ?? now
            places[viewer]?.wish = (wanted, since)
            let patience = wanted > place.rung ? Self.descentPatience : Self.climbPatience
            guard now >= since + patience else { continue }
            places[viewer]?.rung = wanted
            places[viewer]?.wish = nil
            moves.append((viewer, wanted))
        }
        return moves
    }

    /// The best rate of each rung, as the rates now are.
    private func bases(now: Duration) -> [Int] {
        var rates = places.values.filter { !$0.isWithheld && now >= $0.since + Self.trial }.compactMap(\.rate)
        rates.sort(by: >)
        var bases: [Int] = []
        for rate in rates where bases.count < Self.mostRungs {
            guard let base = bases.last else {
                bases.append(rate)
                continue
            }
            if Double(rate) < Double(base) * Self.leastShare { bases.append(rate) }
        }
        return bases
    }

    /// The rung for a rate, from the one that it is in.
    private static func rung(for rate: Int, now current: Int, bases: [Int]) -> Int {
        for (rung, base) in bases.enumerated() {
            let share = rung < current ? climbingShare : leastShare
            if Double(rate) >= Double(base) * share { return rung }
        }
        // Too good for where it is, and not good enough for above: it stays.
        return max(bases.count - 1, current)
    }
}
