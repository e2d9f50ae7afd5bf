internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The rules that assign senders to encodings.
///
///     quality 0    senders with at least half of the best bitrate
///     quality 1    of the others, those with at least half of the best bitrate among them
///     quality 2    the rest
///     quality 3    senders whose descriptions permit less than half of what others' do, whatever their bitrates
///     quality 4    of these, senders that permit less than half of the best of them
///
/// The second and the third layer of a simulcast always have qualities of their own, 5 and 6.
/// An encoding has the lowest bitrate of its senders. So a sender reduces another's bitrate by at most half, unless
/// that is less than a quarter of the best. A quality without senders is not encoded. A sender moves down early and up
/// late, because each move costs a key frame; limits of a description apply at once.
extension EncodingGroup {
    /// The number of qualities that depend on bitrates.
    static var pathQualityCount: Int { 3 }
    /// The qualities of senders that are limited by their descriptions.
    static var limitedQualities: ClosedRange<Int> { pathQualityCount...pathQualityCount + 1 }
    /// The fraction of a quality's best bitrate that a sender needs to keep that quality and, below, to move up to it.
    static var leastShare: Double { 0.5 }
    static var climbingShare: Double { 0.6 }
    /// The time for which a bitrate must be too low, or high enough, before a move.
    static var descentPatience: Duration { .seconds(1) }
    static var climbPatience: Duration { .seconds(5) }
    /// The time for which the measurements of a new route are not used.
    static var trial: Duration { .seconds(2) }

    /// The largest share that the descriptions permit: of all active senders, and of the limited ones.
    private struct Shares {
        let best: Double
        let bestLimited: Double
    }

    /// Whether a sender has another quality than the first.
    var isDivided: Bool { senders.values.contains { !$0.state.isIdle && $0.state.quality.index > 0 } }

    /// Returns the quality of a sender that starts: the first, unless its description is limited.
    func firstQuality(of sender: Sender, now: Duration) -> VideoSender.Quality {
        var quality = VideoSender.Quality(since: now)
        if let fixed = Self.quality(of: sender.state.layer) {
            quality.index = fixed
            return quality
        }
        let share = share(of: sender)
        let shares = shares(with: share)
        if isLimited(share, in: 0, best: shares.best) {
            quality.index = limitedQuality(for: share, now: 0, shares: shares)
        }
        return quality
    }

    /// Returns the quality of a further layer of a simulcast; nil for another sender.
    private static func quality(of layer: SimulcastLayer) -> Int? {
        layer.index > 0 ? limitedQualities.upperBound + layer.index : nil
    }

    /// Returns the bitrate of an encoding for its senders. Nil if their bitrates are unknown.
    func rate(among members: [Sender], now: Duration) -> DataRate? {
        let all = Self.responsive(members).filter { $0.state.rate != nil }
        let measured = all.filter { !$0.state.isWithheld && now >= $0.state.quality.since + Self.trial }
        // If all are new, their rates are the only information.
        return (measured.isEmpty ? all : measured).compactMap(\.state.rate).min()
    }

    /// Returns the senders whose peers answer, or all if none does.
    static func responsive(_ members: [Sender]) -> [Sender] {
        let responsive = members.filter { !$0.state.isUnresponsive }
        return responsive.isEmpty ? members : responsive
    }

    /// Returns the senders that move to another quality now.
    func moves(now: Duration) -> [(sender: Sender, quality: Int)] {
        let shares = shares()
        let bases = bases(now: now, shares: shares)
        var moves: [(sender: Sender, quality: Int)] = []
        for sender in senders.values
        where !sender.state.isIdle && !sender.state.isUnresponsive && sender.state.layer.index == 0 {
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

    /// Returns the share of the wanted encoding that a description permits, up to 1.
    private func share(of sender: Sender) -> Double { limits(of: sender).share(of: wanted) }

    /// Returns the largest shares of all active senders, and of one that is about to start.
    private func shares(with new: Double? = nil) -> Shares {
        var shares = senders.values.filter { !$0.state.isIdle && !$0.state.isWithheld && $0.state.layer.index == 0 }
            .map { ($0.state.quality.index, share(of: $0)) }
        if let new { shares.append((0, new)) }
        let best = shares.map(\.1).max() ?? 0
        let limited = shares.filter { isLimited($0.1, in: $0.0, best: best) }
        return Shares(best: best, bestLimited: limited.map(\.1).max() ?? 0)
    }

    /// Returns whether a description is so limited that a sender with its current quality is separated from the others.
    private func isLimited(_ share: Double, in quality: Int, best: Double) -> Bool {
        share < best * (Self.limitedQualities.contains(quality) ? Self.climbingShare : Self.leastShare)
    }

    /// Returns the quality for a limited description, by its current one.
    private func limitedQuality(for share: Double, now quality: Int, shares: Shares) -> Int {
        let least = quality == Self.limitedQualities.upperBound ? Self.climbingShare : Self.leastShare
        return share < shares.bestLimited * least ? Self.limitedQualities.upperBound : Self.limitedQualities.lowerBound
    }

    /// Returns the current best bitrate of each quality.
    private func bases(now: Duration, shares: Shares) -> [DataRate] {
        var rates = senders.values.filter {
            !$0.state.isIdle && !$0.state.isUnresponsive && !$0.state.isWithheld && $0.state.layer.index == 0
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

    /// Returns the quality that a sender should have.
    private func quality(for sender: Sender, now: Duration, bases: [DataRate], shares: Shares) -> Int {
        let (share, present) = (share(of: sender), sender.state.quality)
        if isLimited(share, in: present.index, best: shares.best) {
            return limitedQuality(for: share, now: present.index, shares: shares)
        }
        let current = Self.limitedQualities.contains(present.index) ? 0 : present.index
        guard let rate = sender.state.rate, now >= present.since + Self.trial, !bases.isEmpty else { return current }
        return Self.quality(for: rate, now: current, bases: bases)
    }

    /// Returns the quality for a bitrate, by the current one.
    private static func quality(for rate: DataRate, now current: Int, bases: [DataRate]) -> Int {
        for (quality, base) in bases.enumerated() {
            let share = quality < current ? climbingShare : leastShare
            if rate >= base * share { return quality }
        }
        // Too good for its quality, and not good enough for a better one: no move.
        return max(bases.count - 1, current)
    }
}
