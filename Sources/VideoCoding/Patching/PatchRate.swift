internal import Glibc

/// How fine a patch of what scrolls can be: what it takes is foreseen by how much is new, and by what earlier ones took.
///
/// What is new comes with each picture anew while something scrolls, so that a picture has a share of the bitrate; what
/// moves once has more.
struct PatchRate {
    /// What a picture may take, in time at the bitrate, that is the first for a while.
    static let burst = Duration.milliseconds(80)
    /// What is owed as a rule when a picture comes: less would be bits that nobody uses, more delay.
    static let usualDebt = Duration.milliseconds(25)
    /// Of the bitrate, what is used: the rest is for what was foreseen too low.
    static let share = 0.92
    /// By what power of the quantizer's step a patch becomes smaller.
    private static let power = 0.85
    /// How much of what was found is believed at once.
    private static let weight = 0.25

    /// Bytes for what is new, at a step of one.
    private(set) var factor = 0.35
    /// Bytes that were made and are not paid for, at `time`.
    private var debt = 0.0
    private var time = Duration.zero
    private var usualNovelty: Double?
    private var lastPicture: Duration?
    private var interval = Self.burst

    /// A frame was made, of whatever kind.
    mutating func spend(byteCount: Int, bytesPerSecond: Double, timestamp: Duration) {
        settle(bytesPerSecond: bytesPerSecond, timestamp: timestamp)
        debt += Double(byteCount)
    }

    /// What a picture may take in which so much is new.
    mutating func allowance(novelty: Int, bytesPerSecond: Double, timestamp: Duration) -> Int {
        settle(bytesPerSecond: bytesPerSecond, timestamp: timestamp)
        let passed = lastPicture.map { min(timestamp - $0, Self.burst) } ?? Self.burst
        lastPicture = timestamp
        // What comes after a rest may be the first of many: how soon they come the second tells.
        interval = interval == Self.burst || passed == Self.burst ? passed : interval + (passed - interval) * 0.2
        let usual = usualNovelty ?? Double(novelty)
        usualNovelty = usual + (Double(novelty) - usual) * 0.1
        // Three new lines are no coarser than one.
        let relative = min(max(Double(novelty) / max(usual, 1), 0.5), 2)
        let spare = Self.usualDebt / .seconds(1) * bytesPerSecond - debt
        let mean = interval / .seconds(1) * bytesPerSecond * Self.share
        return Int(max((mean + spare * 0.2) * relative, mean / 8))
    }

    /// What a patch will take, about.
    func byteCount(novelty: Int, quantizer: Quantizer) -> Int {
        Int(factor * Double(novelty) / pow(Double(quantizer.lumaAC), Self.power))
    }

    /// The finest quantizer at which a patch takes about so many bytes.
    func quantizer(novelty: Int, byteCount: Int, within indices: ClosedRange<Int>) -> Quantizer {
        let step = pow(factor * Double(novelty) / Double(max(byteCount, 1)), 1 / Self.power)
        var (low, high) = (indices.lowerBound, indices.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if Double(Quantizer(index: middle).lumaAC) < step { low = middle + 1 } else { high = middle }
        }
        return Quantizer(index: low)
    }

    /// A patch took so much.
    mutating func took(byteCount: Int, novelty: Int, quantizer: Quantizer) {
        guard novelty > 1000, byteCount > 200 else { return }
        let found = Double(byteCount) * pow(Double(quantizer.lumaAC), Self.power) / Double(novelty)
        factor += (found - factor) * Self.weight
    }

    private mutating func settle(bytesPerSecond: Double, timestamp: Duration) {
        let passed = timestamp - time
        time = timestamp
        guard passed > .zero else { return }
        debt = max(debt - passed / .seconds(1) * bytesPerSecond * Self.share, 0)
        if debt == 0, passed > .milliseconds(500) { usualNovelty = nil }
    }
}
