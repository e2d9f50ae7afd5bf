internal import Glibc
package import RTCShareWireFormat

/// The delay-based estimate: up by shares of itself until the path was once found full, then by steps of about a packet
/// a response time; down to a share of what arrives at overuse.
///
/// ```
///              overusing                 underusing
///   increase ───────────▶ decrease   any ───────────▶ hold
///      ▲                     │
///      │ normal              │ at once, after the cut
///      └────────── hold ◀────┘
/// ```
///
/// Source: libwebrtc, `remote_bitrate_estimator/aimd_rate_control`; draft-ietf-rmcat-gcc-02 5.5. Deviations: the bounds
/// of a network state estimate, which only a receiver of the same vendor sends, are left out.
package struct AIMDRateControl: Sendable {
    private enum Phase: Sendable {
        case hold
        case increase
    }

    /// What is kept of the rate that arrives at overuse.
    package static let backoffFactor = 0.85
    /// The rate below which no estimate falls unless another minimum is set.
    package static let defaultMinimum = DataRate.kilobitsPerSecond(5)
    private static let initializationTime = Duration.seconds(5)
    private static let frameRate = 30.0
    private static let packetBits = 9600.0

    /// The estimate.
    package private(set) var estimate = DataRate.kilobitsPerSecond(30_000)
    /// Whether the estimate rests on anything: a start rate, a measurement or an overuse.
    package private(set) var isValid = false
    /// The round trip, which sets how fast the estimate grows near the capacity.
    package var roundTripTime = Duration.milliseconds(200)
    /// Whether the application is what limits the rate (`ALRDetector`).
    package var isApplicationLimited = false
    /// Whether the estimate keeps from growing while the application is the limit.
    package let holdsWhileApplicationLimited: Bool
    private let growth: Double
    private var minimum = Self.defaultMinimum
    private var latestThroughput = DataRate.kilobitsPerSecond(30_000)
    private var capacity = LinkCapacityEstimator()
    private var phase = Phase.hold
    private var lastChange: Instant?
    private var firstThroughput: Instant?

    /// Whether the path's capacity is not known: it was never found full, or carries more than when it was.
    package var isCapacityUnknown: Bool { capacity.estimate == nil }

    /// A control without a valid estimate.
    ///
    /// - Parameters:
    ///   - holdsWhileApplicationLimited: whether the estimate keeps from growing while the application is the limit.
    ///   - growth: the multiple of libwebrtc's growth near the capacity.
    package init(holdsWhileApplicationLimited: Bool = false, growth: Double = 1) {
        self.growth = growth
        self.holdsWhileApplicationLimited = holdsWhileApplicationLimited
    }

    /// Begins at `rate`.
    package mutating func setStart(_ rate: DataRate) {
        estimate = rate
        latestThroughput = rate
        isValid = true
    }

    /// Keeps the estimate at or above `rate`.
    package mutating func setMinimum(_ rate: DataRate) {
        minimum = rate
        estimate = max(estimate, rate)
    }

    /// Takes an estimate from elsewhere, such as a probe.
    package mutating func setEstimate(_ rate: DataRate, now: Instant) {
        isValid = true
        estimate = max(rate, minimum)
        lastChange = now
    }

    /// Whether another cut may follow the last: after a round trip of 10 to 200 ms, or where not even half of the
    /// estimate arrives.
    package func canReduceFurther(acknowledged: DataRate, now: Instant) -> Bool {
        guard let lastChange else { return true }
        let interval = min(max(roundTripTime, .milliseconds(10)), .milliseconds(200))
        return now - lastChange >= interval || isValid && acknowledged < estimate * 0.5
    }

    /// Whether another cut may follow the last while it is not known what arrives.
    package func canReduceFurther(now: Instant) -> Bool {
        isValid && canReduceFurther(acknowledged: estimate * 0.5 - .bitsPerSecond(1), now: now)
    }

    /// How much the estimate grows a second near the capacity: about a packet each response time of the control loop,
    /// at least 4 kbit/s.
    package var increasePerSecond: DataRate {
        let frameBits = Double(estimate.bitsPerSecond) / Self.frameRate
        let packetBits = frameBits / max(1, (frameBits / Self.packetBits).rounded(.up))
        let responseTime = 2 * (roundTripTime.seconds + 0.1)
        return DataRate(kilobits: max(4, packetBits / responseTime / 1000))
    }

    /// Takes what the detector found and the rate that arrives, nil where not known.
    ///
    /// - Returns: the new estimate.
    @discardableResult
    package mutating func update(usage: OveruseDetector.Usage, acknowledged: DataRate?, now: Instant) -> DataRate {
        initialize(acknowledged: acknowledged, now: now)
        let throughput = acknowledged ?? latestThroughput
        latestThroughput = throughput
        // Overuse makes even an estimate that rests on nothing a valid one.
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

    /// Without a start rate, what arrives 5 s after the first measurement is the first estimate.
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
        // More arrives than the path was thought to take: look for its capacity anew.
        if let bound = capacity.upperBound, throughput > bound { capacity.reset() }
        // Beyond what was tried out, but with room for an encoder that is uneven at low rates.
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
        // Below what arrives, so that the queue that was built drains.
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
