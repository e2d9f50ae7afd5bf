internal import RTCShareWireFormat

/// The bits of an encoding: what was made, what the bitrate has carried of it, and what nobody used. Each frame is charged
/// once; all that is decided by bits asks here.
///
/// - debt: bits that were made and are not carried yet. It falls at the bitrate. Pictures are held for it, key frames kept
///   apart by it, and what scrolls is coarser for it. A codec's rate control shapes pictures; at its coarsest quantizer it
///   makes what it has to, however much: by the debt, over any time no more is made than the bitrate allows, but for the
///   slack and the last picture.
/// - loan: what one large picture, a key frame or a page, took beyond the slack, as long as it is not paid back: by half of
///   the bitrate. Changes are not held for it; they are coarser, by the credit. Key frames and what sharpens wait.
/// - credit: bits that came while nothing was waited for, and that no change used; below zero, those that changes took beyond
///   theirs. A change is as fine as it allows (``QuantizerControl``). What sharpens a picture that rests leaves it alone.
/// - burst: a page that is new may take as much credit as the path was seen to carry at once.
struct BitLedger {
    /// How much may be owed when a picture is begun, in time at the bitrate: pictures of a share each, some larger and
    /// some smaller, are not held for it.
    static let slack = Duration.milliseconds(100)
    /// The same where what changed is a letter or a pointer: it costs next to nothing, and does not wait until a page before
    /// it is paid for.
    static let smallChangeSlack = Duration.seconds(1)
    /// The largest loan: more is held for.
    static let longestLoan = Duration.milliseconds(500)
    /// The part of the bitrate that pays a loan back, while the rest is for the pictures that follow.
    private static let repayment = 0.5
    /// The most that is owed: what a collapse of the bitrate leaves of the time before is not paid for ever.
    static let longestDebt = Duration.seconds(10)
    /// The most credit that is kept, in time at the bitrate.
    static let longestCredit = Duration.milliseconds(250)
    /// The same where it leaves within ``burst``: what comes after it is not held, ``longestLoan``.
    static let longestBurstCredit = Duration.milliseconds(500)
    /// How long a page that is new may be on its way.
    static let burst = Duration.milliseconds(60)
    /// The most that changes are made to save: more is not paid by coarser pictures but by fewer.
    static let longestOverdraft = Duration.milliseconds(250)

    /// What may be made.
    private(set) var bitrate = DataRate.zero
    /// How fast one large picture leaves; zero where that is not known.
    private(set) var burstRate = DataRate.zero
    /// Bits made and not carried at ``time``.
    private(set) var debt = 0.0
    /// Of the debt, what pictures are not held for at ``time``, beyond the slack.
    private(set) var loan = 0.0
    /// Bits that are there for a change, below zero those that the last ones took beyond theirs.
    private(set) var credit = 0.0
    /// As of when all this is.
    private(set) var time: Duration?

    /// Other rates hold from now on.
    mutating func setRates(_ bitrate: DataRate, burst: DataRate, now: Duration) {
        pass(to: now)
        self.bitrate = bitrate
        burstRate = burst
        limitDebt()
    }

    /// Time passes: the bitrate carries what was made, and after that there is credit.
    mutating func pass(to now: Duration) {
        let elapsed = time.map { max(now - $0, .zero) } ?? .zero
        time = max(time ?? now, now)
        let held = min(max(duration(of: debt) - Self.slack, .zero), elapsed)
        let most = max(credit, 0) + bits(in: elapsed - held)
        let atOnce = min(burstBits(in: Self.burst), bits(in: Self.longestBurstCredit))
        credit = min(credit + bits(in: elapsed), most, max(usualCredit, atOnce))
        credit = max(credit, -bits(in: Self.longestOverdraft))
        debt = max(debt - bits(in: elapsed), 0)
        loan = max(loan - bits(in: elapsed) * Self.repayment, 0)
    }

    /// A frame of so many bytes was made; `isChange`: of what changed, and not to have what rests sharper.
    mutating func spend(byteCount: Int, isChange: Bool) {
        let isLarge = duration(of: Double(byteCount) * 8) > Self.slack
        debt += Double(byteCount) * 8
        // One loan at a time: where all pictures are large, each waits for the one before to be paid for, and there are
        // fewer of them.
        if isLarge, loan == 0 { loan = max(debt - bits(in: Self.slack), 0) }
        limitDebt()
        if isChange { credit -= Double(byteCount) * 8 }
    }

    /// The most credit that is kept for any change.
    var usualCredit: Double { bits(in: Self.longestCredit) }

    /// From when on the next picture may be begun.
    var readyAt: Duration { ready(slack: Self.slack) }

    /// From when on the next may be begun that shows something new.
    var readyForChangeAt: Duration {
        let beyond = debt - bits(in: Self.slack)
        // The debt falls at the bitrate, the loan at a part of it.
        let wait = max(beyond - loan, 0) / (1 - Self.repayment)
        return (time ?? .zero) + max(duration(of: min(wait, beyond)), .zero)
    }

    /// Whether more is owed than pictures may be begun with: what need not be made now is not to add to it. Times are
    /// rounded, so that whoever waited until ``readyAt`` may still owe a part of a bit.
    var isInDebt: Bool { debt > bits(in: Self.slack) + 1 }

    /// From when on the next picture may be begun of which little changed.
    var readyForSmallChangeAt: Duration { ready(slack: Self.smallChangeSlack) }

    private func ready(slack: Duration) -> Duration {
        (time ?? .zero) + max(duration(of: debt) - slack, .zero)
    }

    /// The bits that the bitrate carries in so long.
    func bits(in duration: Duration) -> Double { Double(bitrate.bitsPerSecond) * (duration / .seconds(1)) }

    /// The bits of one large picture that leave in so long; none where it is not known how fast one does.
    func burstBits(in duration: Duration) -> Double { Double(burstRate.bitsPerSecond) * (duration / .seconds(1)) }

    /// The time that so many bits take at the bitrate.
    func duration(of bits: Double) -> Duration {
        bitrate > .zero ? .seconds(min(bits / Double(bitrate.bitsPerSecond), 3600)) : .zero
    }

    private mutating func limitDebt() {
        guard bitrate > .zero else { return }
        debt = min(debt, bits(in: Self.longestDebt))
        loan = min(loan, bits(in: Self.longestLoan))
    }
}
