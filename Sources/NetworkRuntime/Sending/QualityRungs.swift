/// Who of a room is sent the same encode: the rules, in virtual time.
///
///     rung 0    viewers whose paths carry half or more of what the best one's does
///     rung 1    of the others, those with half or more of what the best of them has
///     rung 2    the rest
///     rung 3    those who by their own description take less than half of what others' do, whatever their paths carry
///     rung 4    of these, those who take less than half of what the best of them does
///
/// What a rung is encoded at is what the least of its viewers can take; so nobody takes more than half from another, but
/// from those who themselves have less than a quarter of the best. A rung that nobody is in is not encoded. A viewer goes
/// down soon and comes up late, since each move costs a key frame; what a description says holds at once.
struct QualityRungs<Viewer: Hashable> {
    /// Rungs that paths make.
    static var mostRungs: Int { 3 }
    /// The rungs of those who are limited by their descriptions.
    static var limitedRungs: ClosedRange<Int> { mostRungs...mostRungs + 1 }
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

    /// The most that a description takes of one who is sent something: of all, and of those who take little.
    private struct Shares {
        let best: Double
        let bestLimited: Double
    }

    private var places: [Viewer: Place] = [:]

    /// A viewer came, whose description takes this share of what is wanted: it begins in rung 0, unless that is little.
    mutating func add(_ viewer: Viewer, share: Double = 1, now: Duration) {
        places[viewer] = Place(since: now, share: share)
        let shares = shares
        guard isLimited(share, in: 0, best: shares.best) else { return }
        let rung = limitedRung(for: share, now: 0, shares: shares)
        places[viewer]?.rung = rung
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

    /// Whether somebody is not in the first rung.
    var isDivided: Bool { places.values.contains { $0.rung > 0 } }

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
        let shares = shares
        let bases = bases(now: now, shares: shares)
        var moves: [(viewer: Viewer, rung: Int)] = []
        for (viewer, place) in places {
            let wanted = rung(for: place, now: now, bases: bases, shares: shares)
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
        guard other > rung else { return climbPatience }
        return limitedRungs.contains(other) ? .zero : descentPatience
    }

    private var shares: Shares {
        let shares = places.values.filter { !$0.isWithheld }.map { ($0.rung, $0.share) }
        let best = shares.map(\.1).max() ?? 0
        let limited = shares.filter { isLimited($0.1, in: $0.0, best: best) }
        return Shares(best: best, bestLimited: limited.map(\.1).max() ?? 0)
    }

    /// Whether a description takes so little that its viewer, in that rung now, is not sent what others are.
    private func isLimited(_ share: Double, in rung: Int, best: Double) -> Bool {
        share < best * (Self.limitedRungs.contains(rung) ? Self.climbingShare : Self.leastShare)
    }

    /// The rung for a description that takes little, from the one that it is in.
    private func limitedRung(for share: Double, now rung: Int, shares: Shares) -> Int {
        let least = rung == Self.limitedRungs.upperBound ? Self.climbingShare : Self.leastShare
        return share < shares.bestLimited * least ? Self.limitedRungs.upperBound : Self.limitedRungs.lowerBound
    }

    /// The best rate of each rung, as the rates now are.
    private func bases(now: Duration, shares: Shares) -> [Int] {
        var rates = places.values.filter {
            !$0.isWithheld && now >= $0.since + Self.trial && !isLimited($0.share, in: $0.rung, best: shares.best)
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
    private func rung(for place: Place, now: Duration, bases: [Int], shares: Shares) -> Int {
        if isLimited(place.share, in: place.rung, best: shares.best) {
            return limitedRung(for: place.share, now: place.rung, shares: shares)
        }
        let current = Self.limitedRungs.contains(place.rung) ? 0 : place.rung
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
