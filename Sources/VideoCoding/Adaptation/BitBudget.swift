/// What was made against what may be: a bucket that encoded pictures fill and that empties at the bitrate.
///
/// A codec's rate control shapes pictures; at its coarsest quantizer it makes what it has to, however much. Pictures are
/// then left out before they are encoded, until what was made has been paid for: over any time no more is made than the
/// bitrate allows, but for the slack and the last picture. Nothing is saved up: after a rest no burst follows.
struct BitBudget {
    /// How much may be owed when a picture is begun, in time at the bitrate: pictures of a share each, some larger and
    /// some smaller, are not held for it.
    static let slack = Duration.milliseconds(100)
    /// How much may be owed when what changed is a letter or a pointer: it costs next to nothing, and does not wait until a
    /// page before it is paid for.
    static let smallChangeSlack = Duration.seconds(1)
    /// The most that is owed: what a collapse of the bitrate leaves of the time before is not paid for ever.
    static let longestDebt = Duration.seconds(10)

    /// What may be made, in bits a second.
    private(set) var bitsPerSecond: Int
    /// Bits made and not paid for, at `time`.
    private var debt = 0.0
    private var time = Duration.zero

    init(bitsPerSecond: Int) {
        self.bitsPerSecond = bitsPerSecond
    }

    /// Another bitrate holds from now on.
    mutating func setRate(_ bitsPerSecond: Int, now: Duration) {
        settle(now: now)
        self.bitsPerSecond = bitsPerSecond
        limitDebt()
    }

    /// A picture of so many bytes was made.
    mutating func spend(byteCount: Int, now: Duration) {
        settle(now: now)
        debt += Double(byteCount) * 8
        limitDebt()
    }

    /// From when on the next picture may be begun.
    var readyAt: Duration { ready(slack: Self.slack) }

    /// From when on the next picture may be begun of which little changed.
    var readyForSmallChangeAt: Duration { ready(slack: Self.smallChangeSlack) }

    private func ready(slack: Duration) -> Duration {
        guard bitsPerSecond > 0 else { return time }
        return time + max(cost(debt) - slack, .zero)
    }

    /// The time that so many bits take at the bitrate.
    func cost(_ bits: Double) -> Duration {
        bitsPerSecond > 0 ? .seconds(min(bits / Double(bitsPerSecond), 3600)) : .zero
    }

    private mutating func settle(now: Duration) {
        guard now > time else { return }
        debt = max(debt - (now - time) / .seconds(1) * Double(bitsPerSecond), 0)
        time = now
    }

    private mutating func limitDebt() {
        guard bitsPerSecond > 0 else { return }
        debt = min(debt, Self.longestDebt / .seconds(1) * Double(bitsPerSecond))
    }
}
