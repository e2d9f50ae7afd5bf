package import RTCShareWireFormat

/// The rate above which packets are lost: of a few candidates, the path that explains the recent loss best (maximum
/// likelihood), limited by the delay-based estimate.
///
/// ```
///                bounded by loss                    raised
///   delayBased ───────────────────▶ decreasing ───────────────▶ increasing
///       ▲                               ▲  └ held for 0.3 s, doubling ┘│  │
///       │                               └────────── lowered ───────────┘  │
///       └───────── at the delay-based estimate or the maximum ────────────┘
/// ```
///
/// Source: libwebrtc, `goog_cc/loss_based_bwe_v2`, with its default parameters. Deviations: only parameters with an
/// effect by default exist; a rate is a floating-point number instead of whole bits; an average loss below zero, which
/// can result from rounding without the best and the worst interval, counts as zero.
package struct LossBasedEstimator: Sendable {
    /// The basis of the estimate.
    package enum State: Hashable, Sendable {
        /// The delay-based estimate, since loss does not limit the rate.
        case delayBased
        /// Loss, while the estimate decreases.
        case decreasing
        /// Loss, while the estimate increases: padding tests the rate if media do not fill it.
        case increasing
    }

    /// The parameters that the published scenarios vary.
    package struct Configuration: Hashable, Sendable {
        /// The factors on the estimate that give the candidates.
        package var candidateFactors = [1.02, 1.0, 0.95]
        /// The number of intervals in the window.
        package var windowSize = 15
        /// The minimum number of intervals for an estimate.
        package var minimumObservations = 3
        /// The factor on the acknowledged rate that gives the minimum estimate.
        package var lowerBoundFactor = 1.0
        /// The rate that is divided by the loss beyond 5 percent for an upper limit.
        package var upperBoundBalance = DataRate.kilobitsPerSecond(100)

        /// Creates the default parameters.
        package init() {}
    }

    private struct Hold: Sendable {
        var end: Instant?
        var duration = Duration.milliseconds(300)
        var rate = Double.infinity
    }

    private static let rampUpFactor = 1.5
    private static let rampUpFactorInHold = 1.2
    private static let holdThreshold = 1.3
    private static let longestHold = Duration.seconds(60)
    private static let increaseFactor = 1.3
    private static let increaseWindow = Duration.milliseconds(300)
    private static let paddingDuration = Duration.seconds(2)
    private static let initialInherentLoss = 0.01
    private static let smallestLimit = 5.0

    private let configuration: Configuration
    private var observations: LossObservations
    private var thresholds = LossThresholds()
    private var best = LossObservations.Path(bandwidth: .infinity, inherentLoss: Self.initialInherentLoss)
    private var current = State.delayBased
    /// The estimate. Rates here are in kilobits per second, and infinite if not limited or unknown.
    private var bandwidth = Double.infinity
    private var delayBased = Double.infinity
    private var acknowledged: Double?
    private var minimum = 1.0
    private var maximum = Double.infinity
    private var hold = Hold()
    private var paddingStart: Instant?
    private var paddingRate = 0.0
    private var windowStart: Instant?
    private var windowLimit = Double.infinity

    /// Creates an estimator without observations.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        observations = LossObservations(windowSize: configuration.windowSize)
    }

    /// Whether there are enough observations for an estimate.
    package var isReady: Bool {
        best.bandwidth.isFinite && observations.count >= configuration.minimumObservations
    }

    /// The basis of the estimate.
    package var state: State { isReady ? current : .delayBased }

    /// The estimate: the delay-based one until `isReady`; nil if nothing limits it.
    package var estimate: DataRate? {
        let rate = isReady ? bandwidth : delayBased
        return rate.isFinite ? DataRate(kilobits: rate) : nil
    }

    /// The average fraction of lost bytes that the estimator uses.
    package var averageLoss: Double { observations.averageLoss }

    /// Sets the start rate.
    package mutating func setEstimate(_ rate: DataRate) {
        best.bandwidth = rate.kilobits
        bandwidth = rate.kilobits
        current = .delayBased
    }

    /// Sets the rate at which packets arrive.
    package mutating func setAcknowledged(_ rate: DataRate) {
        acknowledged = rate.kilobits
    }

    /// Sets the limits of the estimate. A maximum of nil means none.
    package mutating func setBounds(minimum: DataRate, maximum: DataRate?) {
        self.minimum = minimum.kilobits
        self.maximum = maximum?.kilobits ?? .infinity
    }

    /// Processes one feedback.
    ///
    /// - Parameters:
    /// - results: The arrived and lost packets.
    /// - delayBased: The delay-based estimate; nil if there is none.
    /// - isApplicationLimited: Whether the application limits the rate, so that the arrival rate is not meaningful.
    /// - background: The fraction that the path loses whatever the rate is.
    package mutating func update(
        _ results: [TransportFeedbackTracker.PacketResult], delayBased: DataRate?, isApplicationLimited: Bool,
        background: Double = 0
    ) {
        thresholds = LossThresholds(background: background)
        self.delayBased = delayBased?.kilobits ?? .infinity
        guard observations.append(results), let now = observations.lastSent else { return }
        if !best.bandwidth.isFinite {
            guard let delayBased else { return }
            setEstimate(delayBased)
        }
        var candidate = bestCandidate(isApplicationLimited: isApplicationLimited, now: now)
        if observations.averageLoss > candidate.inherentLoss, observations.averageLoss > thresholds.growth {
            candidate.bandwidth = min(candidate.bandwidth, best.bandwidth)
        }
        if current != .delayBased { boundIncrease(&candidate, now: now) }
        let bounded = max(lowerBound, min(candidate.bandwidth, upperBound, self.delayBased))
        if bounded < candidate.bandwidth {
            best = LossObservations.Path(bandwidth: bounded, inherentLoss: 0)
        } else {
            best = candidate
            if configuration.lowerBoundFactor > 0 { best.bandwidth = max(best.bandwidth, lowerBound) }
        }
        follow(bounded, now: now)
    }

    private var lowerBound: Double {
        max(minimum, (acknowledged ?? 0) * configuration.lowerBoundFactor)
    }

    private var upperBound: Double {
        let excess = observations.averageLoss - thresholds.upperBound
        return excess > 0 ? configuration.upperBoundBalance.kilobits / excess : maximum
    }

    private func bestCandidate(isApplicationLimited: Bool, now: Instant) -> LossObservations.Path {
        var rates = configuration.candidateFactors.map { $0 * best.bandwidth }
        let isPadded = paddingStart.map { now - $0 <= Self.paddingDuration } ?? false
        if let acknowledged, !isApplicationLimited || isPadded { rates.append(acknowledged) }
        if delayBased.isFinite, delayBased > best.bandwidth { rates.append(delayBased) }
        let ceiling = max(best.bandwidth, current != .delayBased && windowLimit.isFinite ? windowLimit : maximum)
        var winner = best
        var highest = -Double.infinity
        for rate in rates {
            let candidate = observations.fitted(
                LossObservations.Path(bandwidth: min(rate, ceiling), inherentLoss: best.inherentLoss),
                thresholds: thresholds)
            let objective = observations.objective(candidate, thresholds: thresholds)
            if objective > highest {
                highest = objective
                winner = candidate
            }
        }
        return winner
    }

    /// Limits increases after loss: in steps, and not far beyond the arrival rate.
    private func boundIncrease(_ candidate: inout LossObservations.Path, now: Instant) {
        if let windowStart, now - windowStart < Self.increaseWindow {
            candidate.bandwidth = min(candidate.bandwidth, windowLimit)
        }
        guard let acknowledged, isIncrease(from: best.bandwidth, to: candidate.bandwidth) else { return }
        let isNearHold = hold.rate.isFinite && acknowledged < Self.holdThreshold * hold.rate
        let factor = isNearHold ? Self.rampUpFactorInHold : Self.rampUpFactor
        candidate.bandwidth = max(best.bandwidth, min(candidate.bandwidth, factor * acknowledged))
        // A slightly higher rate changes the state to that of padding, which tests whether there is room.
        if current == .decreasing, candidate.bandwidth == best.bandwidth { candidate.bandwidth += 0.001 }
    }

    private func isIncrease(from old: Double, to new: Double) -> Bool {
        current != .delayBased && (old < new || old == new && current == .increasing)
    }

    /// Sets the estimate and its state.
    private mutating func follow(_ bounded: Double, now: Instant) {
        let isBoundByLoss = bounded < delayBased && bounded < maximum
        if current == .decreasing, let end = hold.end, end > now, bounded < delayBased {
            if configuration.lowerBoundFactor > 0 { hold.rate = max(hold.rate, lowerBound) }
            bandwidth = min(hold.rate, bounded)
            return
        }
        if isBoundByLoss, isIncrease(from: bandwidth, to: bounded), canKeepIncreasing(to: bounded, now: now) {
            if bounded > paddingRate {
                paddingRate = bounded
                paddingStart = now
            }
            current = .increasing
        } else if isBoundByLoss {
            if current != .decreasing {
                hold = Hold(
                    end: now.advanced(by: hold.duration), duration: min(Self.longestHold, hold.duration * 2),
                    rate: bounded)
            }
            paddingStart = nil
            paddingRate = 0
            current = .decreasing
        } else {
            hold = Hold()
            paddingStart = nil
            paddingRate = 0
            current = .delayBased
        }
        bandwidth = bounded
        if current != .delayBased, windowStart.map({ now - $0 > Self.increaseWindow }) ?? true {
            windowLimit = max(Self.smallestLimit, best.bandwidth * Self.increaseFactor)
            windowStart = now
        }
    }

    private func canKeepIncreasing(to rate: Double, now: Instant) -> Bool {
        guard current == .increasing else { return true }
        return paddingStart.map { now - $0 <= Self.paddingDuration } ?? false || paddingRate < rate
    }
}
