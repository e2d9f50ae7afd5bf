package import RTCShareWireFormat

/// Divides the bitrate of a path among the media that use it.
///
/// Each media first gets its minimum, in order of rank. Then the media of the highest rank share the rest equally, up
/// to their maximum, and the remainder goes to the next rank. If the minima do not fit, media with ``Claim/mayPause``
/// are paused, from the lowest rank. A better layer of a simulcast gets its minimum only if the media of higher ranks, such
/// as the lower layers, have all that they can use. A paused media resumes only if there is room for its minimum and
/// ``resumeMargin``, so that a fluctuating estimate does not pause and resume it repeatedly.
///
/// Apart from pauses and their ends, a small change of the total never causes a large change of one media's rate.
package struct BitrateAllocator: Sendable {
    /// The bitrate that one media requests, on the wire.
    package struct Claim: Hashable, Sendable {
        /// The minimum rate, unless the media is paused.
        package var minimum: DataRate
        /// The maximum rate.
        package var maximum: DataRate
        /// The rank; media of a higher rank come first.
        package var rank: Int
        /// Whether the media can be paused if the minima do not fit.
        package var mayPause: Bool
        /// A number that the layers of a simulcast have in common, whose lower layers have higher ranks; nil for a single
        /// stream.
        package var simulcast: Int?

        /// Creates a claim between two rates. A maximum below the minimum counts as the minimum.
        package init(minimum: DataRate, maximum: DataRate, rank: Int, mayPause: Bool = false, simulcast: Int? = nil) {
            self.minimum = max(.zero, minimum)
            self.maximum = max(self.minimum, maximum)
            self.rank = rank
            self.mayPause = mayPause
            self.simulcast = simulcast
        }
    }

    /// The minimum free rate, beyond its own minimum, for a paused media to resume.
    package static let resumeMargin = DataRate.kilobitsPerSecond(20)
    /// The same margin as a fraction of the minimum. The larger of the two applies.
    package static let resumeMarginShare = 0.1

    /// The indices of the paused media.
    private var paused: Set<Int> = []

    /// Creates an allocator without paused media.
    package init() {}

    /// Returns the part of `total` for each of `claims`, by its index; zero for nil and for a paused media.
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
        for (place, index) in order.enumerated() {
            guard let claim = claims[index] else { continue }
            var room = left
            let before = order[..<place].filter { !paused.contains($0) }
            if claim.simulcast != nil, before.contains(where: { claims[$0]?.simulcast == claim.simulcast }) {
                let after = order[(place + 1)...].filter {
                    !paused.contains($0) && claims[$0]?.simulcast != claim.simulcast
                }
                room = total - before.compactMap { claims[$0]?.maximum }.reduce(.zero, +)
                room = room - after.compactMap { claims[$0]?.minimum }.reduce(.zero, +)
            }
            if claim.mayPause, room < needed(by: claim, at: index) {
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

    /// Gives each media an equal part. Others share the rest of a part that exceeds a maximum.
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
