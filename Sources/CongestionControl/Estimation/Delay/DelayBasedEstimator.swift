package import RTCShareWireFormat

/// The rate at which the delay of the path neither grows nor shrinks: joins the grouping of packets, the trend of their
/// delay, the detector of overuse and the rate control.
///
/// Source: libwebrtc, `goog_cc/delay_based_bwe`; draft-ietf-rmcat-gcc-02 5. Deviations: no detector of sound's own, which
/// is off by default there.
package struct DelayBasedEstimator: Sendable {
    /// What a feedback changed.
    package struct Result: Hashable, Sendable {
        /// The new estimate; nil where the feedback made none.
        package let estimate: DataRate?
        /// Whether the estimate is what a probe measured.
        package let isProbe: Bool
        /// Whether a queue has drained and the delay is even again.
        package let hasRecovered: Bool
    }

    /// After this time without feedback the delays from before say nothing of those from now on.
    package static let streamTimeout = Duration.seconds(2)

    /// The estimate's ups and downs.
    package private(set) var rateControl: AIMDRateControl
    private var interArrival = InterArrivalDelta()
    private var trendline = TrendlineEstimator()
    private var detector = OveruseDetector()
    private var lastFeedback: Instant?

    /// An estimator without an estimate.
    ///
    /// - Parameter growth: the multiple of libwebrtc's growth near the capacity.
    package init(growth: Double = 1) {
        rateControl = AIMDRateControl(growth: growth)
    }

    /// What the delay says of the path.
    package var usage: OveruseDetector.Usage { detector.usage }

    /// The estimate; nil where there is none yet.
    package var estimate: DataRate? { rateControl.isValid ? rateControl.estimate : nil }

    /// Begins at `rate`.
    package mutating func setStart(_ rate: DataRate) {
        rateControl.setStart(rate)
    }

    /// Keeps the estimate at or above `rate`.
    package mutating func setMinimum(_ rate: DataRate) {
        rateControl.setMinimum(rate)
    }

    /// Takes the round trip time, which sets how fast the estimate grows near the capacity.
    package mutating func setRoundTripTime(_ time: Duration) {
        rateControl.roundTripTime = time
    }

    /// Lowers the estimate to `rate`, where something else than the delay showed that it is too high.
    package mutating func lower(to rate: DataRate, now: Instant) {
        guard let estimate, rate < estimate else { return }
        rateControl.setEstimate(rate, now: now)
    }

    /// Raises the estimate to `rate`, where what lowered it turned out to say nothing of the path's capacity.
    mutating func restore(_ rate: DataRate, now: Instant) {
        guard let estimate, rate > estimate else { return }
        rateControl.setEstimate(rate, now: now)
    }

    /// Takes what one feedback says.
    ///
    /// - Parameters:
    ///   - arrived: the packets that arrived, in the order of arrival.
    ///   - acknowledged: the rate at which packets arrive; nil where not known.
    ///   - probe: what a probe measured; nil where none is complete.
    ///   - isApplicationLimited: whether the application is what limits the rate.
    ///   - hasQueue: whether packets were seen to wait: a delay that grows where none do is jitter.
    ///   - now: when the feedback came in.
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

    /// Follows the delay. True where it went back from shrinking to even.
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
            // What a probe measured while it overused the path is no rate to send at.
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

    /// Cuts the estimate, unless the last cut was just now.
    private mutating func reduce(acknowledged: DataRate?, now: Instant) -> Bool {
        guard let acknowledged else {
            // Overuse before anything is known of what arrives: the start rate was too high.
            guard rateControl.canReduceFurther(now: now) else { return false }
            rateControl.setEstimate(rateControl.estimate * 0.5, now: now)
            return true
        }
        guard rateControl.canReduceFurther(acknowledged: acknowledged, now: now) else { return false }
        rateControl.update(usage: .overusing, acknowledged: acknowledged, now: now)
        return true
    }
}
