package import RTCShareWireFormat

/// Divides what a path carries among the media that are sent over it.
///
/// First each media gets its minimum, the first in rank first; then those of the highest rank get what they can use, to
/// equal parts, and what is left goes to those of the next. Where not even the minima fit, media that may pause do, from
/// the last in rank on; one that is paused comes back only when there is room for its minimum and ``resumeMargin``, so
/// that an estimate that wavers at the edge does not have it come and go.
///
/// Without that, a little more for all is never much more or less for one: what media get changes no faster than the
/// whole.
package struct BitrateAllocator: Sendable {
    /// What one media takes, on the wire.
    package struct Claim: Hashable, Sendable {
        /// What it gets at least, unless it is paused.
        package var minimum: DataRate
        /// What it gets at most.
        package var maximum: DataRate
        /// Those of a higher rank go first.
        package var rank: Int
        /// Whether it can do without, where there is less than the minima.
        package var mayPause: Bool

        /// A claim between two rates; a maximum below the minimum counts as the minimum.
        package init(minimum: DataRate, maximum: DataRate, rank: Int, mayPause: Bool = false) {
            self.minimum = max(.zero, minimum)
            self.maximum = max(self.minimum, maximum)
            self.rank = rank
            self.mayPause = mayPause
        }
    }

    /// The least that has to be free beyond its minimum for a paused media to come back.
    package static let resumeMargin = DataRate.kilobitsPerSecond(20)
    /// The same as a share of its minimum; the greater of the two counts.
    package static let resumeMarginShare = 0.1

    /// The media that are paused, by their index.
    private var paused: Set<Int> = []

    /// An allocator that has paused nothing.
    package init() {}

    /// What each of `claims` gets of `total`, by its index; zero for no claim, and for one that is paused.
    package mutating func allocate(_ total: DataRate, among claims: [Claim?]) -> [DataRate] {
        if claims.count == 1, let claim = claims[0], !claim.mayPause {
            paused = []
            return [max(claim.minimum, min(claim.maximum, total))]
        }
        let order = claims.indices.filter { claims[$0] != nil }.sorted { left, right in
            let (first, second) = (claims[left]?.rank ?? 0, claims[right]?.rank ?? 0)
            return first == second ? left < right : first > second
        }
        paused.formIntersection(order)
        var rates = [DataRate](repeating: .zero, count: claims.count)
        var left = total
        for index in order {
            guard let claim = claims[index] else { continue }
            if claim.mayPause, left < needed(by: claim, at: index) {
                paused.insert(index)
                continue
            }
            paused.remove(index)
            rates[index] = claim.minimum
            left = left - claim.minimum
        }
        var rest = order[...].filter { !paused.contains($0) }
        while let rank = rest.first.flatMap({ claims[$0]?.rank }) {
            let equals = rest.prefix { claims[$0]?.rank == rank }
            rest = Array(rest.dropFirst(equals.count))
            fill(equals, of: claims, from: &left, to: &rates)
        }
        return rates
    }

    private func needed(by claim: Claim, at index: Int) -> DataRate {
        guard paused.contains(index) else { return claim.minimum }
        return claim.minimum + max(Self.resumeMargin, claim.minimum * Self.resumeMarginShare)
    }

    /// Gives equal parts to each, and what one can't use to the others.
    private func fill(
        _ indices: some Sequence<Int>, of claims: [Claim?], from left: inout DataRate, to rates: inout [DataRate]
    ) {
        let rooms = indices.compactMap { index in claims[index].map { (index: index, room: $0.maximum - rates[index]) }
        }
        .sorted { $0.room < $1.room }
        for (done, (index, room)) in rooms.enumerated() {
            let share = min(room, .bitsPerSecond(left.bitsPerSecond / Int64(rooms.count - done)))
            rates[index] = rates[index] + share
            left = left - share
        }
    }
}
