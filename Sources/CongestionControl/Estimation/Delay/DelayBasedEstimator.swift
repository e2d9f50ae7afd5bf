package import RTCShareWireFormat

/// The rate at which the delay of the path neither grows nor shrinks. It combines the grouping of packets, the trend of
/// their delay, the overuse detector and the rate control.
///
/// Source: libwebrtc, `goog_cc/delay_based_bwe`; draft-ietf-rmcat-gcc-02 5. Deviations: there is no separate detector
/// for audio, which is off by default there.
package struct DelayBasedEstimator: Sendable {
    /// The changes from one feedback.
    package struct Result: Hashable, Sendable {
        /// The new estimate; nil if the feedback caused none.
        package let estimate: DataRate?
        /// Whether the estimate is the result of a probe.
        package let isProbe: Bool
        /// Whether a queue has drained and the delay is constant again.
        package let hasRecovered: Bool
    }

    /// The time without feedback after which earlier delays are obsolete.
    package static let streamTimeout = Duration.seconds(2)

    /// The control of the estimate.
    package private(set) var rateControl: AIMDRateControl
    private var interArrival = InterArrivalDelta()
    private var trendline = TrendlineEstimator()
    private var detector = OveruseDetector()
    private var lastFeedback: Instant?

    /// Creates an estimator without an estimate.
    ///
    /// - Parameter growth: The factor on libwebrtc's growth near the capacity.
    package init(growth: Double = 1) {
        rateControl = AIMDRateControl(growth: growth)
    }

    /// The path usage that the delay shows.
    package var usage: OveruseDetector.Usage { detector.usage }

    /// The estimate; nil if there is none yet.
    package var estimate: DataRate? { rateControl.isValid ? rateControl.estimate : nil }

    /// Sets the start rate.
    package mutating func setStart(_ rate: DataRate) {
        rateControl.setStart(rate)
    }

    /// Sets the minimum estimate.
    package mutating func setMinimum(_ rate: DataRate) {
        rateControl.setMinimum(rate)
    }

    /// Sets the round-trip time, which determines the growth of the estimate near the capacity.
    package mutating func setRoundTripTime(_ time: Duration) {
        rateControl.roundTripTime = time
    }

    /// Lowers the estimate to `rate`, for reasons other than the delay.
    package mutating func lower(to rate: DataRate, now: Instant) {
        guard let estimate, rate < estimate else { return }
        rateControl.setEstimate(rate, now: now)
    }

    /// Raises the estimate to `rate`, after a decrease that was not caused by the path's capacity.
    mutating func restore(_ rate: DataRate, now: Instant) {
        guard let estimate, rate > estimate else { return }
        rateControl.setEstimate(rate, now: now)
    }

    /// Processes one feedback.
    ///
    /// - Parameters:
    /// - arrived: The packets that arrived, in order of arrival.
    /// - acknowledged: The rate at which packets arrive; nil if unknown.
    /// - probe: The result of a probe; nil if none is complete.
    /// - isApplicationLimited: Whether the application limits the rate.
    /// - hasQueue: Whether packets waited in a queue. Without a queue a growing delay is jitter.
    /// - now: The arrival time of the feedback.
    package mutating func receive(
        _ arrived: [TransportFeedbackTracker.PacketResult], acknowledged: DataRate?, probe: DataRate?,
        isApplicationLimited: Bool, hasQueue: Bool = true, now: Instant
    ) -> Result {
        guard !arrived.isEmpty else { return Result(estimate: nil, isProbe: false, hasRecovered: false) }
        if lastFeedback.map({ now - $0 > Self.streamTimeout }) ?? false {
            interArrival = InterArrivalDelta()
            trendline = TrendlineEstimator()
            detector = OveruseDetector()
        }
        lastFeedback = now
        let hasRecovered = detect(arrived, now: now)
        rateControl.isApplicationLimited = isApplicationLimited
        return decide(
            acknowledged: acknowledged, probe: probe, hasRecovered: hasRecovered, hasQueue: hasQueue,
            now: now)
    }

    /// Updates the detector. Returns true if the delay stopped shrinking and is constant again.
    private mutating func detect(_ arrived: [TransportFeedbackTracker.PacketResult], now: Instant) -> Bool {
        var hasRecovered = false
        for result in arrived {
            guard let arrival = result.arrival else { continue }
            let before = detector.usage
            let delta = interArrival.receive(
                sent: result.sent, arrival: arrival, feedbackTime: now, size: result.size)
            guard let delta else { continue }
            trendline.update(sendDelta: delta.send, arrivalDelta: delta.arrival, arrival: arrival)
            detector.detect(
                trend: trendline.trend, sendDelta: delta.send, deltaCount: trendline.deltaCount, arrival: arrival)
            if before == .underusing, detector.usage == .normal { hasRecovered = true }
        }
        return hasRecovered
    }

    private mutating func decide(
        acknowledged: DataRate?, probe: DataRate?, hasRecovered: Bool, hasQueue: Bool,
        now: Instant
    ) -> Result {
        if detector.usage == .overusing {
            guard hasQueue else { return Result(estimate: estimate, isProbe: false, hasRecovered: false) }
            // The result of a probe that overused the path is not a usable rate.
            guard reduce(acknowledged: acknowledged, now: now) else {
                return Result(estimate: nil, isProbe: false, hasRecovered: false)
            }
            return Result(estimate: rateControl.estimate, isProbe: false, hasRecovered: false)
        }
        if let probe {
            rateControl.setEstimate(probe, now: now)
            return Result(estimate: rateControl.estimate, isProbe: true, hasRecovered: hasRecovered)
        }
        rateControl.update(usage: detector.usage, acknowledged: acknowledged, now: now)
        return Result(estimate: estimate, isProbe: false, hasRecovered: hasRecovered)
    }

    /// Decreases the estimate, unless the last decrease was very recent.
    private mutating func reduce(acknowledged: DataRate?, now: Instant) -> Bool {
        guard let acknowledged else {
            // There is overuse before the arrival rate is known, so that the start rate was too high.
            guard rateControl.canReduceFurther(now: now) else { return false }
            rateControl.setEstimate(rateControl.estimate * 0.5, now: now)
            return true
        }
        guard rateControl.canReduceFurther(acknowledged: acknowledged, now: now) else { return false }
        rateControl.update(usage: .overusing, acknowledged: acknowledged, now: now)
        return true
    }
}
