internal import Glibc
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The loss over the last intervals, and the likelihood of that loss on a path with given properties
/// (`LossBasedEstimator`).
struct LossObservations: Sendable {
    /// A path that loses a fraction of all packets, and everything above a rate.
    struct Path: Sendable {
        /// The bandwidth in kilobits per second.
        var bandwidth: Double
        var inherentLoss: Double
    }

    /// One interval. Sizes are in kilobytes, the rate is in kilobits per second.
    private struct Observation: Sendable {
        let size: Double
        let lost: Double
        let rate: Double
    }

    static let minimumDuration = Duration.milliseconds(250)
    private static let weightFactor = 0.9
    private static let newtonStep = 0.75
    private static let inherentLossFloor = 1e-3
    private static let inherentLossBalance = 100.0
    private static let bandwidthBias = 0.0002
    private static let logarithmBias = 0.02
    private static let preferenceSmoothing = 0.002
    private static let burstFactor = 2.0

    let windowSize: Int
    /// The number of all intervals so far.
    private(set) var count = 0
    /// The sending time of the newest packet in the newest interval.
    private(set) var lastSent: Instant?
    /// The weighted fraction of lost bytes, in which newer intervals count more, without the best and the worst
    /// interval.
    private(set) var averageLoss = 0.0
    /// The intervals, from the oldest to the newest.
    private var observations: [Observation] = []
    private var partialBytes = 0
    private var partialLost: [TransportSequenceNumber: Int] = [:]

    init(windowSize: Int) {
        self.windowSize = max(1, windowSize)
    }

    /// Adds results. Returns true if they complete an interval.
    mutating func append(_ results: [TransportFeedbackTracker.PacketResult]) -> Bool {
        guard let first = results.first else { return false }
        var firstSent = first.sent
        var newestSent = first.sent
        for result in results {
            // A packet that was reported as missing in this interval and arrived later was not lost.
            if result.arrival == nil || !partialLost.isEmpty {
                partialLost[result.number] = result.arrival == nil ? result.size : nil
            }
            partialBytes += result.size
            firstSent = min(firstSent, result.sent)
            newestSent = max(newestSent, result.sent)
        }
        let before = lastSent ?? firstSent
        lastSent = before
        let duration = newestSent - before
        guard duration >= Self.minimumDuration else { return false }
        lastSent = newestSent
        let size = Double(partialBytes) / 1000
        if observations.count == windowSize { observations.removeFirst() }
        observations.append(
            Observation(
                size: size, lost: Double(partialLost.values.reduce(0, +)) / 1000, rate: size * 8 / duration.seconds))
        count += 1
        partialBytes = 0
        if !partialLost.isEmpty { partialLost.removeAll(keepingCapacity: true) }
        averageLoss = computeAverageLoss()
        return true
    }

    /// Returns `path` with an inherent loss that explains the observations better: one step of Newton's method.
    func fitted(_ path: Path, thresholds: LossThresholds = LossThresholds()) -> Path {
        var path = path
        path.inherentLoss = Self.feasible(path, thresholds)
        var first = 0.0
        var second = 0.0
        forEachWeighted { observation, weight in
            let loss = Self.lossProbability(path, rate: observation.rate)
            let arrived = observation.size - observation.lost
            first += weight * (observation.lost / loss - arrived / (1 - loss))
            second -= weight * (observation.lost / (loss * loss) + arrived / ((1 - loss) * (1 - loss)))
        }
        path.inherentLoss -= Self.newtonStep * first / min(second, -1e-6)
        path.inherentLoss = Self.feasible(path, thresholds)
        return path
    }

    /// Returns the log-likelihood of the observations on `path`, with a preference for high rates while there is little
    /// loss.
    func objective(_ path: Path, thresholds: LossThresholds = LossThresholds()) -> Double {
        let preference = thresholds.preference - averageLoss
        let scale = preference / (Self.preferenceSmoothing + abs(preference))
        let bias = scale * (Self.bandwidthBias * path.bandwidth + Self.logarithmBias * log(1 + path.bandwidth))
        var objective = 0.0
        forEachWeighted { observation, weight in
            let loss = Self.lossProbability(path, rate: observation.rate)
            let arrived = observation.size - observation.lost
            objective += weight * (observation.lost * log(loss) + arrived * log(1 - loss) + bias * observation.size)
        }
        return objective
    }

    private func forEachWeighted(_ body: (Observation, Double) -> Void) {
        var weight = 1.0
        for observation in observations.reversed() {
            body(observation, weight)
            weight *= Self.weightFactor
        }
    }

    private func computeAverageLoss() -> Double {
        var size = 0.0
        var lost = 0.0
        var best = (loss: 1.0, size: 0.0, lost: 0.0)
        var worst = (loss: 0.0, size: 0.0, lost: 0.0, rate: 0.0)
        forEachWeighted { observation, weight in
            let weighted = (size: weight * observation.size, lost: weight * observation.lost)
            size += weighted.size
            lost += weighted.lost
            let loss = observation.size > 0 ? observation.lost / observation.size : 0
            guard count > 3 else { return }
            if loss > worst.loss { worst = (loss, weighted.size, weighted.lost, observation.rate) }
            if loss < best.loss { best = (loss, weighted.size, weighted.lost) }
        }
        guard size > 0 else { return 0 }
        // The worst interval counts if far more than usual was sent in it.
        let rest = size - best.size - worst.size
        guard medianRate * Self.burstFactor > worst.rate, rest > 0 else { return lost / size }
        return max(0, lost - best.lost - worst.lost) / rest
    }

    private var medianRate: Double {
        let rates = observations.map(\.rate).filter { $0 > 0 }.sorted()
        guard !rates.isEmpty else { return 0 }
        return (rates[(rates.count - 1) / 2] + rates[rates.count / 2]) / 2
    }

    private static func feasible(_ path: Path, _ thresholds: LossThresholds) -> Double {
        let ceiling = path.bandwidth > 0 ? min(1, thresholds.inherent + inherentLossBalance / path.bandwidth) : 1
        return min(max(path.inherentLoss, inherentLossFloor), ceiling)
    }

    private static func lossProbability(_ path: Path, rate: Double) -> Double {
        var loss = path.inherentLoss
        if rate > path.bandwidth { loss += (1 - loss) * (rate - path.bandwidth) / rate }
        return min(max(loss, 1e-6), 1 - 1e-6)
    }
}
