internal import Glibc
package import RTCShareWireFormat

/// The delay-based estimate. It increases by a fraction of itself until the path was full once, and then by about a
/// packet per response time. At overuse it decreases to a fraction of the arrival rate.
///
/// ```
///              overusing                 underusing
///   increase ───────────▶ decrease   any ───────────▶ hold
///      ▲                     │
///      │ normal              │ at once, after the cut
///      └────────── hold ◀────┘
/// ```
///
/// Source: libwebrtc, `remote_bitrate_estimator/aimd_rate_control`; draft-ietf-rmcat-gcc-02 5.5. Deviations: there are
/// no limits from a network state estimate, which only a receiver of the same vendor sends.
package struct AIMDRateControl: Sendable {
    private enum Phase: Sendable {
        case hold
        case increase
    }

    /// The fraction of the arrival rate that the estimate keeps at overuse.
    package static let backoffFactor = 0.85
    /// The minimum estimate unless another one is set.
    package static let defaultMinimum = DataRate.kilobitsPerSecond(5)
    private static let initializationTime = Duration.seconds(5)
    private static let frameRate = 30.0
    private static let packetBits = 9600.0

    /// The estimate.
    package private(set) var estimate = DataRate.kilobitsPerSecond(30_000)
    /// Whether the estimate is based on a start rate, a measurement or an overuse.
    package private(set) var isValid = false
    /// The round-trip time, which determines the growth of the estimate near the capacity.
    package var roundTripTime = Duration.milliseconds(200)
    /// Whether the application limits the rate (`ALRDetector`).
    package var isApplicationLimited = false
    /// Whether the estimate does not grow while the application limits the rate.
    package let holdsWhileApplicationLimited: Bool
    private let growth: Double
    private var minimum = Self.defaultMinimum
    private var latestThroughput = DataRate.kilobitsPerSecond(30_000)
    private var capacity = LinkCapacityEstimator()
    private var phase = Phase.hold
    private var lastChange: Instant?
    private var firstThroughput: Instant?

    /// Whether the path's capacity is unknown: the path was never full, or carries more than when it was.
    package var isCapacityUnknown: Bool { capacity.estimate == nil }

    /// Creates a control without a valid estimate.
    ///
    /// - Parameters:
    /// - holdsWhileApplicationLimited: Whether the estimate does not grow while the application limits the rate.
    /// - growth: The factor on libwebrtc's growth near the capacity.
    package init(holdsWhileApplicationLimited: Bool = false, growth: Double = 1) {
        self.growth = growth
        self.holdsWhileApplicationLimited = holdsWhileApplicationLimited
    }

    /// Sets the start rate.
    package mutating func setStart(_ rate: DataRate) {
        estimate = rate
        latestThroughput = rate
        isValid = true
    }

    /// Sets the minimum estimate.
    package mutating func setMinimum(_ rate: DataRate) {
        minimum = rate
        estimate = max(estimate, rate)
    }

    /// Sets an estimate from elsewhere, such as a probe.
    package mutating func setEstimate(_ rate: DataRate, now: Instant) {
        isValid = true
        estimate = max(rate, minimum)
        lastChange = now
    }

    /// Whether another decrease is allowed: after a round trip of 10 to 200 ms, or if less than half of the estimate
    /// arrives.
    package func canReduceFurther(acknowledged: DataRate, now: Instant) -> Bool {
        guard let lastChange else { return true }
        let interval = min(max(roundTripTime, .milliseconds(10)), .milliseconds(200))
        return now - lastChange >= interval || isValid && acknowledged < estimate * 0.5
    }

    /// Whether another decrease is allowed while the arrival rate is unknown.
    package func canReduceFurther(now: Instant) -> Bool {
        isValid && canReduceFurther(acknowledged: estimate * 0.5 - .bitsPerSecond(1), now: now)
    }

    /// The growth of the estimate per second near the capacity: about a packet per response time of the control loop,
    /// at least 4 kbit/s.
    package var increasePerSecond: DataRate {
        let frameBits = Double(estimate.bitsPerSecond) / Self.frameRate
        let packetBits = frameBits / max(1, (frameBits / Self.packetBits).rounded(.up))
        let responseTime = 2 * (roundTripTime.seconds + 0.1)
        return DataRate(kilobits: max(4, packetBits / responseTime / 1000))
    }

    /// Processes the detector's state and the arrival rate; nil if that is unknown.
    ///
    /// - Returns: The new estimate.
    @discardableResult
    package mutating func update(usage: OveruseDetector.Usage, acknowledged: DataRate?, now: Instant) -> DataRate {
        initialize(acknowledged: acknowledged, now: now)
        let throughput = acknowledged ?? latestThroughput
        latestThroughput = throughput
        // Overuse makes the estimate valid even without another basis.
        guard isValid || usage == .overusing else { return estimate }
        switch usage {
        case .overusing:
            decrease(throughput: throughput, now: now)
        case .underusing:
            phase = .hold
        case .normal:
            if phase == .hold {
                lastChange = now
                phase = .increase
            }
            increase(throughput: throughput, now: now)
        }
        estimate = max(estimate, minimum)
        return estimate
    }

    /// Sets the first estimate if there is no start rate: the arrival rate 5 s after the first measurement.
    private mutating func initialize(acknowledged: DataRate?, now: Instant) {
        guard !isValid, let acknowledged else { return }
        guard let firstThroughput else {
            self.firstThroughput = now
            return
        }
        guard now - firstThroughput > Self.initializationTime else { return }
        estimate = acknowledged
        isValid = true
    }

    private mutating func increase(throughput: DataRate, now: Instant) {
        // More packets arrive than the assumed capacity: search for the capacity again.
        if let bound = capacity.upperBound, throughput > bound { capacity.reset() }
        // The limit is above the tested rate, with room for an encoder whose rate varies at low rates.
        var limit = throughput * 1.5 + .kilobitsPerSecond(10)
        if isApplicationLimited && holdsWhileApplicationLimited { limit = estimate }
        if estimate < limit { estimate = min(increased(now: now), limit) }
        lastChange = now
    }

    private func increased(now: Instant) -> DataRate {
        let elapsed = lastChange.map { max(0, (now - $0).seconds) }
        if capacity.estimate != nil, let elapsed { return estimate + increasePerSecond * (elapsed * growth) }
        let share = pow(1.08, min(elapsed ?? 1, 1)) - 1
        return estimate + max(estimate * share, .kilobitsPerSecond(1))
    }

    private mutating func decrease(throughput: DataRate, now: Instant) {
        // The new rate is below the arrival rate, so that the queue drains.
        var reduced = throughput * Self.backoffFactor
        if reduced > .kilobitsPerSecond(5) { reduced = reduced - .kilobitsPerSecond(5) }
        if reduced > estimate, let capacity = capacity.estimate { reduced = capacity * Self.backoffFactor }
        let new = min(reduced, estimate)
        if let bound = capacity.lowerBound, throughput < bound { capacity.reset() }
        capacity.overuseDetected(acknowledged: throughput)
        estimate = new
        isValid = true
        phase = .hold
        lastChange = now
    }
}
