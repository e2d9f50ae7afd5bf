internal import RTCShareWireFormat

/// The accounting of an encoding's bits: those that were encoded, those that the bitrate has carried since, and those
/// that are unused. Each frame is charged once, and all decisions about bits use this ledger.
///
/// - debt: The bits that were encoded and not carried yet. It decreases at the bitrate. The debt delays frames and
///   spaces key frames, and it makes scrolling content coarser. A codec's rate control shapes frames, but at its
///   coarsest quantizer a frame has the size that its content requires. With the debt, no more bits are encoded over
///   any period than the bitrate allows, except the slack and the last frame.
/// - loan: The bits of one large frame, such as a key frame or a new page, beyond the slack, and at most ``pageBits``.
///   Half of the bitrate repays it. A loan does not delay changes, but makes them coarser through the credit. Key frames
///   and sharpening wait.
/// - credit: The bits that accumulated while no frame was waiting, and that no change used. A negative credit means
///   that changes took more than their share. It determines how fine a change is (``QuantizerControl``). Sharpening an
///   unchanged frame does not affect it.
/// - burst: A new page can use as much credit as the path is known to carry at once.
struct BitLedger {
    /// The maximum debt at the start of a frame, as time at the bitrate: frames of their share each, some larger and
    /// some smaller, are not delayed.
    static let slack = Duration.milliseconds(100)
    /// The maximum debt at the start of a small change, such as a letter or a pointer: it costs almost nothing and does
    /// not wait until a page before it is paid for.
    static let smallChangeSlack = Duration.seconds(1)
    /// The fraction of the bitrate that repays a loan. The rest is for the next frames.
    private static let repayment = 0.5
    /// The maximum debt, so that a collapse of the bitrate does not have effects forever.
    static let longestDebt = Duration.seconds(10)
    /// The maximum credit, as time at the bitrate.
    static let longestCredit = Duration.milliseconds(250)
    /// The maximum credit that can be sent within ``burst``, after which frames are not delayed.
    static let longestBurstCredit = Duration.milliseconds(500)
    /// The maximum time for sending a new page.
    static let burst = Duration.milliseconds(60)
    /// The maximum size of a key frame or a page, as time at the bitrate. A larger one is blurred or coarse at first.
    private static let longestPage = Duration.milliseconds(500)
    /// The maximum size if it can be sent within ``longestDeparture``.
    private static let longestBurst = Duration.milliseconds(800)
    private static let longestDeparture = Duration.milliseconds(320)
    /// The maximum number of bits at any bitrate, with room for a frame that is somewhat larger than predicted:
    /// libwebrtc's receivers hold 2048 packets of a frame.
    static let largestPage = 1400 * 1100 * 8.0
    /// The maximum overdraft that makes changes coarser. More is not saved by coarser frames but by fewer.
    static let longestOverdraft = Duration.milliseconds(250)

    /// The bitrate of the encoding.
    private(set) var bitrate = DataRate.zero
    /// The rate at which a large frame is sent; zero if unknown.
    private(set) var burstRate = DataRate.zero
    /// The bits that were encoded and not carried at ``time``.
    private(set) var debt = 0.0
    /// The part of the debt beyond the slack that does not delay frames at ``time``.
    private(set) var loan = 0.0
    /// The bits that are available for a change; negative if the last changes exceeded their share.
    private(set) var credit = 0.0
    /// The time of these values.
    private(set) var time: Duration?

    /// Sets the bitrate and the burst rate.
    mutating func setRates(_ bitrate: DataRate, burst: DataRate, now: Duration) {
        // In a pause, which ends now, the route has carried what was encoded before.
        if self.bitrate == .zero { (self.bitrate, burstRate) = (bitrate, burst) }
        pass(to: now)
        (self.bitrate, burstRate) = (bitrate, burst)
        limitDebt()
    }

    /// Advances the time: the bitrate carries the encoded bits, and then accumulates credit. A pause, with a bitrate of
    /// zero, counts when it ends.
    mutating func pass(to now: Duration) {
        if bitrate == .zero, time != nil { return }
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

    /// Charges a frame. `isChange` means that it shows changes, instead of only sharpening unchanged content.
    mutating func spend(byteCount: Int, isChange: Bool) {
        spend(byteCount: byteCount, changeShare: isChange ? 1 : 0)
    }

    /// Charges a frame, of which changes are a fraction, 0 to 1, and the rest sharpens unchanged content.
    mutating func spend(byteCount: Int, changeShare: Double) {
        let isLarge = duration(of: Double(byteCount) * 8) > Self.slack
        debt += Double(byteCount) * 8
        // There is one loan at a time: if all frames are large, each waits until the previous one is paid for, and
        // there are fewer of them.
        if isLarge, loan == 0 { loan = max(debt - bits(in: Self.slack), 0) }
        limitDebt()
        credit -= Double(byteCount) * 8 * changeShare
    }

    /// The maximum credit for any change.
    var usualCredit: Double { bits(in: Self.longestCredit) }

    /// The earliest time of the next frame.
    var readyAt: Duration { ready(slack: Self.slack) }

    /// The earliest time of the next frame with a change.
    var readyForChangeAt: Duration {
        let beyond = debt - bits(in: Self.slack)
        // The debt decreases at the bitrate, the loan at a fraction of it.
        let wait = max(beyond - loan, 0) / (1 - Self.repayment)
        return (time ?? .zero) + max(duration(of: min(wait, beyond)), .zero)
    }

    /// Whether the debt exceeds that for a new frame, so that optional frames must wait. Times are rounded, so that a
    /// part of a bit can remain at ``readyAt``.
    var isInDebt: Bool { debt > bits(in: Self.slack) + 1 }

    /// The earliest time of the next frame with a small change.
    var readyForSmallChangeAt: Duration { ready(slack: Self.smallChangeSlack) }

    private func ready(slack: Duration) -> Duration {
        (time ?? .zero) + max(duration(of: debt) - slack, .zero)
    }

    /// Returns the number of bits that the bitrate carries in `duration`.
    func bits(in duration: Duration) -> Double { Double(bitrate.bitsPerSecond) * (duration / .seconds(1)) }

    /// Returns the number of bits of one large frame that can be sent in `duration`; zero if the burst rate is unknown.
    func burstBits(in duration: Duration) -> Double { Double(burstRate.bitsPerSecond) * (duration / .seconds(1)) }

    /// The maximum number of bits of a key frame or a page.
    var pageBits: Double {
        let bits = max(
            bits(in: Self.longestPage), min(burstBits(in: Self.longestDeparture), bits(in: Self.longestBurst)))
        return min(bits, Self.largestPage)
    }

    /// Returns the time that `bits` take at the bitrate.
    func duration(of bits: Double) -> Duration {
        bitrate > .zero ? .seconds(min(bits / Double(bitrate.bitsPerSecond), 3600)) : .zero
    }

    private mutating func limitDebt() {
        guard bitrate > .zero else { return }
        debt = min(debt, bits(in: Self.longestDebt))
        loan = min(loan, pageBits)
    }
}
