/// Learns the delay of packets relative to the fastest ones that lets almost all of them arrive in time.
///
/// All times are in samples at 48 kHz. The difference of the clocks does not matter.
struct PacketDelayEstimator: Sendable {
    /// The fraction of packets that should arrive in time.
    private static let covered = 0.97
    /// The number of packets after which a packet counts half: some seconds of 20 ms packets.
    private static let memory = 140.0
    /// The width of a bucket, 5 ms.
    private static let bucketWidth: Int64 = 240
    /// The minimum time for which the fastest packet counts: clocks drift and routes change.
    private static let epoch: Int64 = 5 * 48_000

    /// The weight of each bucket, up to slightly more than a second.
    private var weights = [Double](repeating: 0, count: 210)
    private var count = 0.0
    private var epochEnd: Int64?
    private var quickest: Int64 = .max
    private var quickestBefore: Int64 = .max

    /// The delay of the fastest packet in the last 5 to 10 seconds; nil before the first.
    var base: Int64? {
        epochEnd == nil ? nil : min(quickest, quickestBefore)
    }

    /// The maximum delay relative to the fastest packet at which a packet is in time.
    private(set) var jitter: Int64 = 0

    /// Records a packet with this difference between its arrival and its timestamp.
    mutating func note(delay: Int64, now: Int64) {
        if let end = epochEnd {
            if now >= end {
                // After a long pause both epochs are over.
                quickestBefore = now >= end + Self.epoch ? .max : quickest
                quickest = .max
                epochEnd = now + Self.epoch
            }
        } else {
            epochEnd = now + Self.epoch
        }
        if let base, base != .max, delay < base { shift(by: base - delay) }
        quickest = min(quickest, delay)
        let excess = delay - min(quickest, quickestBefore)
        learn(bucket: min(Int(clamping: excess / Self.bucketWidth), weights.count - 1))
    }

    /// Handles a restart of the stream with other timestamps. The distribution of delays stays valid.
    mutating func forgetBase() {
        epochEnd = nil
        quickest = .max
        quickestBefore = .max
    }

    /// Shifts the earlier packets, which were slower than the new fastest one by `difference`: delayed packets arrive
    /// oldest first, and only the last one reveals their delay.
    private mutating func shift(by difference: Int64) {
        let distance = min(Int(clamping: difference / Self.bucketWidth), weights.count - 1)
        guard distance > 0 else { return }
        let beyond = weights.suffix(distance + 1).reduce(0, +)
        weights.removeLast(distance)
        weights[weights.count - 1] = beyond
        weights.insert(contentsOf: repeatElement(0, count: distance), at: 0)
    }

    private mutating func learn(bucket: Int) {
        count += 1
        // The first packets count in full, later ones fade out: the sum of the weights is always one.
        let share = max(1 / count, 1 - 1 / (1 + 0.693 / Self.memory))
        var sum = 0.0
        var reached: Int?
        for index in weights.indices {
            weights[index] *= 1 - share
            if index == bucket { weights[index] += share }
            sum += weights[index]
            if reached == nil, sum >= Self.covered { reached = index }
        }
        jitter = Int64((reached ?? weights.count - 1) + 1) * Self.bucketWidth
    }
}
