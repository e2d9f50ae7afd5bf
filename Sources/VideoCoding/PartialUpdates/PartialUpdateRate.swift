internal import Glibc

/// How fine a partial update of what scrolls can be: what it takes is foreseen by how much is new, and by what earlier
/// ones took.
///
/// What is new comes with each picture anew while something scrolls, so that a picture has a share of the bitrate; what
/// moves once has more.
struct PartialUpdateRate {
    /// A picture may take what the bitrate carries since the one before, and no more than in this time.
    static let longestInterval = Duration.milliseconds(80)
    /// What is owed as a rule when a picture comes: less would be bits that nobody uses, more delay.
    static let usualDebt = Duration.milliseconds(5)
    /// Of the bitrate, what is used: the rest is for what was foreseen too low.
    static let share = 0.92
    /// What moves after so long without bits being owed has nothing to do with what moved before.
    private static let rest = Duration.milliseconds(500)
    /// By what power of the quantizer's step a partial update becomes smaller.
    private static let power = 0.85
    /// How much of what was found is believed at once.
    private static let weight = 0.25

    /// Bytes for what is new, at a step of one.
    private(set) var factor = 0.35
    private var usualNovelty: Double?
    private var lastPicture: Duration?
    private var interval = Self.longestInterval

    /// What a picture may take in which so much is new.
    mutating func allowance(novelty: Int, from ledger: BitLedger, timestamp: Duration) -> Int {
        let rest = lastPicture.map { timestamp - $0 } ?? Self.rest
        lastPicture = timestamp
        if rest >= Self.rest, ledger.debt == 0 { usualNovelty = nil }
        let passed = min(rest, Self.longestInterval)
        // What comes after a rest may be the first of many: how soon they come the second tells.
        let isFirst = interval == Self.longestInterval || passed == Self.longestInterval
        interval = isFirst ? passed : interval + (passed - interval) * 0.2
        let usual = usualNovelty ?? Double(novelty)
        usualNovelty = usual + (Double(novelty) - usual) * 0.1
        // Three new lines are no coarser than one.
        let relative = min(max(Double(novelty) / max(usual, 1), 0.5), 2)
        let spare = (ledger.bits(in: Self.usualDebt) - ledger.debt) / 8
        let mean = ledger.bits(in: interval) / 8 * Self.share
        return Int(max((mean + spare * 0.2) * relative, mean / 8))
    }

    /// What a partial update will take, about.
    func byteCount(novelty: Int, quantizer: Quantizer) -> Int {
        Int(factor * Double(novelty) / pow(Double(quantizer.lumaAC), Self.power))
    }

    /// The finest quantizer at which a partial update takes about so many bytes.
    func quantizer(novelty: Int, byteCount: Int, within indices: ClosedRange<Int>) -> Quantizer {
        let step = pow(factor * Double(novelty) / Double(max(byteCount, 1)), 1 / Self.power)
        var (low, high) = (indices.lowerBound, indices.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if Double(Quantizer(index: middle).lumaAC) < step { low = middle + 1 } else { high = middle }
        }
        return Quantizer(index: low)
    }

    /// A partial update took so much.
    mutating func record(byteCount: Int, novelty: Int, quantizer: Quantizer) {
        guard novelty > 1000, byteCount > 200 else { return }
        let found = Double(byteCount) * pow(Double(quantizer.lumaAC), Self.power) / Double(novelty)
        factor += (found - factor) * Self.weight
    }
}
