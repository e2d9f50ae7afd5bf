/// Who of a room is sent the same encode: the rules, in virtual time.
///
///     rung 0    viewers whose paths carry half or more of what the best one's does
///     rung 1    of the others, those with half or more of what the best of them has
///     rung 2    the rest
///     rung 3    those who by their own description take less than half of what others' do, whatever their paths carry
///
/// What a rung is encoded at is what the least of its viewers can take; so nobody takes more than half from another, and
/// a rung that nobody is in is not encoded. A viewer goes down soon and comes up late, since each move costs a key frame;
/// what a description says holds at once.
struct QualityRungs<Viewer: Hashable> {
    /// Rungs that paths make.
    static var mostRungs: Int { 3 }
    /// The rung of those who are limited by their descriptions.
    static var limitedRung: Int { mostRungs }
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
        /// How much of what is wanted its description takes, up to 1.
        var share: Double
        /// Bits a second that the path carries; nil until that is known.
        var rate: Int?
        /// Whether nothing goes there for now.
        var isWithheld = false
        /// Where it should be, and since when.
        var wish: (rung: Int, since: Duration)?
    }

    private var places: [Viewer: Place] = [:]

    /// A viewer came, whose description takes this share of what is wanted: it begins in rung 0, unless that is little.
    mutating func add(_ viewer: Viewer, share: Double = 1, now: Duration) {
        var place = Place(since: now, share: share)
        places[viewer] = place
        guard isLimited(place, best: bestShare) else { return }
        place.rung = Self.limitedRung
        places[viewer] = place
    }

    /// A viewer left.
    mutating func remove(_ viewer: Viewer) {
        places[viewer] = nil
    }

    /// How much of what is wanted a viewer's description takes, up to 1.
    mutating func setShare(_ share: Double, of viewer: Viewer) {
        places[viewer]?.share = share
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
        let best = bestShare
        let bases = bases(now: now, best: best)
        var moves: [(viewer: Viewer, rung: Int)] = []
        for (viewer, place) in places {
            let wanted = rung(for: place, now: now, bases: bases, best: best)
            guard wanted != place.rung else {
                places[viewer]?.wish = nil
                continue
            }
            let since = place.wish.flatMap { $0.rung == wanted ? $0.since : nil } ?? now
            places[viewer]?.wish = (wanted, since)
            guard now >= since + Self.patience(from: place.rung, to: wanted) else { continue }
            places[viewer]?.rung = wanted
            places[viewer]?.wish = nil
            moves.append((viewer, wanted))
        }
        return moves
    }

    private static func patience(from rung: Int, to other: Int) -> Duration {
        if other == limitedRung { return .zero }
        return other > rung ? descentPatience : climbPatience
    }

    /// The most that the description of one takes who is sent something.
    private var bestShare: Double { places.values.reduce(0) { $1.isWithheld ? $0 : max($0, $1.share) } }

    /// Whether a description takes so little that its viewer is not sent what others are.
    private func isLimited(_ place: Place, best: Double) -> Bool {
        place.share < best * (place.rung == Self.limitedRung ? Self.climbingShare : Self.leastShare)
    }

    /// The best rate of each rung, as the rates now are.
    private func bases(now: Duration, best: Double) -> [Int] {
        var rates = places.values.filter {
            !$0.isWithheld && now >= $0.since + Self.trial && !isLimited($0, best: best)
        }.compactMap(\.rate)
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

    /// The rung that a viewer should be in.
    private func rung(for place: Place, now: Duration, bases: [Int], best: Double) -> Int {
        if isLimited(place, best: best) { return Self.limitedRung }
        let current = place.rung == Self.limitedRung ? 0 : place.rung
        guard let rate = place.rate, now >= place.since + Self.trial, !bases.isEmpty else { return current }
        return Self.rung(for: rate, now: current, bases: bases)
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
