internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Who is sent the same encoding: the rules.
///
///     quality 0    those whose paths carry half or more of what the best one's does
///     quality 1    of the others, those with half or more of what the best of them has
///     quality 2    the rest
///     quality 3    those who by their own description take less than half of what others' do, whatever their paths carry
///     quality 4    of these, those who take less than half of what the best of them does
///
/// What an encoding is made at is what the least of its senders can take; so nobody takes more than half from another, but
/// from those who themselves have less than a quarter of the best. A quality that nobody has is not encoded. A sender goes
/// down soon and comes up late, since each move costs a key frame; what a description says holds at once.
extension EncodingGroup {
    /// Qualities that paths make.
    static var pathQualityCount: Int { 3 }
    /// The qualities of those who are limited by their descriptions.
    static var limitedQualities: ClosedRange<Int> { pathQualityCount...pathQualityCount + 1 }
    /// Of what the best of a quality has, what one has to have for it; and to come up to it.
    static var leastShare: Double { 0.5 }
    static var climbingShare: Double { 0.6 }
    /// How long a path has to be too poor, and good enough.
    static var descentPatience: Duration { .seconds(1) }
    static var climbPatience: Duration { .seconds(5) }
    /// How long nobody is judged by what was found out of a new path.
    static var trial: Duration { .seconds(2) }

    /// The most that a description takes of one who is sent something: of all, and of those who take little.
    private struct Shares {
        let best: Double
        let bestLimited: Double
    }

    /// Whether a sender has another quality than the first.
    var isDivided: Bool { senders.values.contains { !$0.state.isIdle && $0.state.quality.index > 0 } }

    /// The quality of a sender that begins: the first, unless its description takes little.
    func firstQuality(of sender: Sender, now: Duration) -> VideoSender.Quality {
        var quality = VideoSender.Quality(since: now)
        let share = share(of: sender)
        let shares = shares(with: share)
        if isLimited(share, in: 0, best: shares.best) {
            quality.index = limitedQuality(for: share, now: 0, shares: shares)
        }
        return quality
    }

    /// What an encoding may take for its senders. Nil if nothing is known of their paths.
    func rate(among members: [Sender], now: Duration) -> DataRate? {
        let all = Self.responsive(members).filter { $0.state.rate != nil }
        let measured = all.filter { !$0.state.isWithheld && now >= $0.state.quality.since + Self.trial }
        // If all are new, their rates are all that is known.
        return (measured.isEmpty ? all : measured).compactMap(\.state.rate).min()
    }

    /// The senders whose peers answer, or all if none does.
    static func responsive(_ members: [Sender]) -> [Sender] {
        let responsive = members.filter { !$0.state.isUnresponsive }
        return responsive.isEmpty ? members : responsive
    }

    /// The senders that have another quality from now on.
    func moves(now: Duration) -> [(sender: Sender, quality: Int)] {
        let shares = shares()
        let bases = bases(now: now, shares: shares)
        var moves: [(sender: Sender, quality: Int)] = []
        for sender in senders.values where !sender.state.isIdle && !sender.state.isUnresponsive {
            let present = sender.state.quality
            let next = quality(for: sender, now: now, bases: bases, shares: shares)
            sender.state.quality.next = nil
            guard next != present.index else { continue }
            let since = present.next.flatMap { $0.index == next ? $0.since : nil } ?? now
            guard now >= since + Self.patience(from: present.index, to: next) else {
                sender.state.quality.next = (next, since)
                continue
            }
            moves.append((sender, next))
        }
        return moves
    }

    private static func patience(from quality: Int, to other: Int) -> Duration {
        guard other > quality else { return climbPatience }
        return limitedQualities.contains(other) ? .zero : descentPatience
    }

    /// How much of what is wanted a description takes, up to 1.
    private func share(of sender: Sender) -> Double { sender.state.agreement.limits.share(of: wanted) }

    /// Those of all who are sent something, and of one who is about to be.
    private func shares(with new: Double? = nil) -> Shares {
        var shares = senders.values.filter { !$0.state.isIdle && !$0.state.isWithheld }
            .map { ($0.state.quality.index, share(of: $0)) }
        if let new { shares.append((0, new)) }
        let best = shares.map(\.1).max() ?? 0
        let limited = shares.filter { isLimited($0.1, in: $0.0, best: best) }
        return Shares(best: best, bestLimited: limited.map(\.1).max() ?? 0)
    }

    /// Whether a description takes so little that one who has that quality now is not sent what others are.
    private func isLimited(_ share: Double, in quality: Int, best: Double) -> Bool {
        share < best * (Self.limitedQualities.contains(quality) ? Self.climbingShare : Self.leastShare)
    }

    /// The quality for a description that takes little, from the one that it has.
    private func limitedQuality(for share: Double, now quality: Int, shares: Shares) -> Int {
        let least = quality == Self.limitedQualities.upperBound ? Self.climbingShare : Self.leastShare
        return share < shares.bestLimited * least ? Self.limitedQualities.upperBound : Self.limitedQualities.lowerBound
    }

    /// The best rate of each quality, as the rates now are.
    private func bases(now: Duration, shares: Shares) -> [DataRate] {
        var rates = senders.values.filter {
            !$0.state.isIdle && !$0.state.isUnresponsive && !$0.state.isWithheld
                && now >= $0.state.quality.since + Self.trial
                && !isLimited(share(of: $0), in: $0.state.quality.index, best: shares.best)
        }.compactMap(\.state.rate)
        rates.sort(by: >)
        var bases: [DataRate] = []
        for rate in rates where bases.count < Self.pathQualityCount {
            guard let base = bases.last else {
                bases.append(rate)
                continue
            }
            if rate < base * Self.leastShare { bases.append(rate) }
        }
        return bases
    }

    /// The quality that a sender should have.
    private func quality(for sender: Sender, now: Duration, bases: [DataRate], shares: Shares) -> Int {
        let (share, present) = (share(of: sender), sender.state.quality)
        if isLimited(share, in: present.index, best: shares.best) {
            return limitedQuality(for: share, now: present.index, shares: shares)
        }
        let current = Self.limitedQualities.contains(present.index) ? 0 : present.index
        guard let rate = sender.state.rate, now >= present.since + Self.trial, !bases.isEmpty else { return current }
        return Self.quality(for: rate, now: current, bases: bases)
    }

    /// The quality for a rate, from the one that it has.
    private static func quality(for rate: DataRate, now current: Int, bases: [DataRate]) -> Int {
        for (quality, base) in bases.enumerated() {
            let share = quality < current ? climbingShare : leastShare
            if rate >= base * share { return quality }
        }
        // Too good for where it is, and not good enough for above: it stays.
        return max(bases.count - 1, current)
    }
}
