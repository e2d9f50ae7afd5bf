internal import Glibc

/// Chooses the quantizer of a partial update of scrolling content. Its size is predicted from the amount of new
/// content, and from earlier updates.
///
/// While something scrolls, each frame has new content, so that a frame has a share of the bitrate. A single move has
/// more.
struct PartialUpdateRate {
    /// The maximum interval: a frame can take what the bitrate carries since the previous one, at most in this time.
    static let longestInterval = Duration.milliseconds(80)
    /// The usual debt at a new frame: less would leave bits unused, more would cause delay.
    static let usualDebt = Duration.milliseconds(5)
    /// The fraction of the bitrate that is used. The rest compensates for underestimates.
    static let share = 0.92
    /// The idle time without debt after which a move is unrelated to earlier ones.
    private static let rest = Duration.milliseconds(500)
    /// The exponent of the quantizer step in the size of a partial update.
    private static let power = 0.85
    /// The weight of a new result.
    private static let weight = 0.25

    /// The number of bytes per unit of new content, at a step of one.
    private(set) var factor = 0.35
    private var usualNovelty: Double?
    private var lastPicture: Duration?
    private var interval = Self.longestInterval

    /// Returns the maximum size of a frame with this amount of new content.
    mutating func allowance(novelty: Int, from ledger: BitLedger, timestamp: Duration) -> Int {
        let rest = lastPicture.map { timestamp - $0 } ?? Self.rest
        lastPicture = timestamp
        if rest >= Self.rest, ledger.debt == 0 { usualNovelty = nil }
        let passed = min(rest, Self.longestInterval)
        // A frame after an idle time can be the first of many. Their interval is known with the second.
        let isFirst = interval == Self.longestInterval || passed == Self.longestInterval
        interval = isFirst ? passed : interval + (passed - interval) * 0.2
        let usual = usualNovelty ?? Double(novelty)
        usualNovelty = usual + (Double(novelty) - usual) * 0.1
        // Three new lines are not coarser than one.
        let relative = min(max(Double(novelty) / max(usual, 1), 0.5), 2)
        let spare = (ledger.bits(in: Self.usualDebt) - ledger.debt) / 8
        let mean = ledger.bits(in: interval) / 8 * Self.share
        return Int(max((mean + spare * 0.2) * relative, mean / 8))
    }

    /// Returns the approximate size of a partial update.
    func byteCount(novelty: Int, quantizer: Quantizer) -> Int {
        Int(factor * Double(novelty) / pow(Double(quantizer.lumaAC), Self.power))
    }

    /// Returns the finest quantizer at which a partial update takes about `byteCount` bytes.
    func quantizer(novelty: Int, byteCount: Int, within indices: ClosedRange<Int>) -> Quantizer {
        let step = pow(factor * Double(novelty) / Double(max(byteCount, 1)), 1 / Self.power)
        var (low, high) = (indices.lowerBound, indices.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if Double(Quantizer(index: middle).lumaAC) < step { low = middle + 1 } else { high = middle }
        }
        return Quantizer(index: low)
    }

    /// Records the size of a partial update.
    mutating func record(byteCount: Int, novelty: Int, quantizer: Quantizer) {
        guard novelty > 1000, byteCount > 200 else { return }
        let found = Double(byteCount) * pow(Double(quantizer.lumaAC), Self.power) / Double(novelty)
        factor += (found - factor) * Self.weight
    }
}
