internal import RTCShareWireFormat

/// Combines the limits: the delay-based and the loss-based estimate, the receiver's estimate, and missing feedback.
/// Without transport-wide feedback it uses the loss in receiver reports, and in requests if reports are rare
/// (`RequestedLoss`).
///
/// Source: libwebrtc, `goog_cc/send_side_bandwidth_estimation`. Deviations: while the loss-based estimate does not
/// limit the rate, the delay-based one applies immediately instead of at the next interval (`Deviations.promptDelay`);
/// with receiver reports only, the rate grows by half each second until the first loss or the first queue, where
/// libwebrtc grows by 8 percent from the beginning (`Deviations.reportGrowth`); there is no separate stable target.
struct SendSideEstimator: Sendable {
    /// The initial period in which loss reports do not count yet.
    static let startPhase = Duration.seconds(2)
    /// The number of packets in a sample of loss.
    static let samplePackets = 20
    /// The loss up to which receiver reports let the rate grow.
    static let lowLoss = 0.02
    /// The loss above which receiver reports reduce the rate.
    static let highLoss = 0.1
    /// The growth per second with receiver reports.
    private static let growth = 1.08
    /// The growth per second before the first loss or queue.
    private static let firstGrowth = 1.5
    /// The excess over the shortest round-trip time that indicates a queue.
    private static let queueingDelay = Duration.milliseconds(50)
    /// The time without feedback after which the rate decreases.
    static let feedbackTimeout = Duration.seconds(3)
    /// The minimum rate without feedback.
    static let backoffFloor = DataRate.kilobitsPerSecond(5)
    private static let backoffInterval = Duration.seconds(1)
    private static let backoffFactor = 0.8
    private static let increaseInterval = Duration.seconds(1)
    private static let decreaseInterval = Duration.milliseconds(300)
    private static let reportLifetime = Duration.seconds(6)

    /// The rate that all limits allow.
    private(set) var target: DataRate
    /// The loss-based estimate, whose input is that of `receive`.
    private(set) var lossBased = LossBasedEstimator()
    /// The delay-based limit; nil if unknown.
    private(set) var delayLimit: DataRate?
    /// The receiver's estimate; nil if there is none.
    private(set) var remoteLimit: DataRate?
    /// The fraction lost in the latest sample of receiver reports.
    private(set) var fractionLost = 0.0
    /// Whether the rate decreases because of missing feedback.
    private(set) var isBackingOff = false
    /// Whether receiver reports limit the rate.
    private(set) var isBoundByReports = false
    private(set) var minimum: DataRate
    private(set) var maximum: DataRate
    private let deviations: Deviations
    private var roundTripTime = Duration.zero
    private var shortestRoundTrip: Duration?
    /// Whether a report contained loss, or a round-trip time showed a queue.
    private var hasMetLimit = false
    /// The rate of the packets in the latest sample, if it was a rare report.
    private var sampledRate: DataRate?
    private var expected = 0
    private var lost = 0.0
    private var firstReport: Instant?
    private var lastReport: Instant?
    private var hasDecreasedSinceReport = false
    private var lastDecrease: Instant?
    private var lastBackoff: Instant?
    /// The maximum number of stored targets: far more than the usual feedback of a second causes.
    static let lowestCapacity = 256
    /// The targets of the last second that are lower than all later ones, from the oldest.
    private(set) var lowest: [(time: Instant, rate: DataRate)] = []

    /// Creates an estimator with the target `start`.
    init(start: DataRate, minimum: DataRate, maximum: DataRate, deviations: Deviations = .all) {
        self.deviations = deviations
        self.minimum = minimum
        self.maximum = maximum
        target = min(max(start, minimum), maximum)
        lossBased.setBounds(minimum: minimum, maximum: maximum)
    }

    mutating func setBounds(minimum: DataRate, maximum: DataRate) {
        self.minimum = minimum
        self.maximum = maximum
        lossBased.setBounds(minimum: minimum, maximum: maximum)
        set(target)
    }

    mutating func setRoundTripTime(_ time: Duration) {
        roundTripTime = time
        let shortest = min(shortestRoundTrip ?? time, time)
        shortestRoundTrip = shortest
        if time > shortest + Self.queueingDelay { hasMetLimit = true }
    }

    /// Sets the receiver's estimate, which applies with the next `update`.
    mutating func setRemoteLimit(_ rate: DataRate?) {
        remoteLimit = rate
    }

    /// Sets a measured rate, which replaces the delay-based limit.
    mutating func setMeasured(_ rate: DataRate) {
        delayLimit = nil
        lowest = []
        set(rate)
    }

    /// Sets the delay-based estimate.
    mutating func setDelayLimit(_ rate: DataRate) {
        delayLimit = rate
        set(target)
    }

    /// Processes results for the loss-based estimate.
    mutating func receive(
        _ results: [TransportFeedbackTracker.PacketResult], acknowledged: DataRate?, isApplicationLimited: Bool,
        background: Double
    ) {
        if let acknowledged { lossBased.setAcknowledged(acknowledged) }
        lossBased.update(
            results, delayBased: delayLimit, isApplicationLimited: isApplicationLimited,
            background: background)
    }

    /// Processes the loss of one of the streams. Returns true if there are enough packets for a decision.
    mutating func receive(_ sample: LossSample, now: Instant) -> Bool {
        firstReport = firstReport ?? now
        guard sample.packets > 0 else { return false }
        let packets = min(sample.packets, 1 << 20)
        expected += packets
        lost += Double(packets) * min(max(sample.fractionLost, 0), 1)
        guard expected >= Self.samplePackets else { return false }
        self.fractionLost = min(1, lost / Double(expected))
        sampledRate = sample.sentRate
        if self.fractionLost > Self.lowLoss { hasMetLimit = true }
        expected = 0
        lost = 0
        lastReport = now
        hasDecreasedSinceReport = false
        return true
    }

    /// Updates the target.
    ///
    /// - Parameter waiting: The time without feedback when the newest packet was sent; zero if there never was any.
    mutating func update(waiting: Duration, now: Instant) {
        isBackingOff = waiting > Self.feedbackTimeout
        guard !isBackingOff else {
            guard lastBackoff.map({ now - $0 >= Self.backoffInterval }) ?? true, target > Self.backoffFloor else {
                return
            }
            lastBackoff = now
            set(max(target * Self.backoffFactor, Self.backoffFloor))
            return
        }
        isBoundByReports = false
        if fractionLost == 0, isStarting(now: now), !lossBased.isReady {
            let best = max(target, remoteLimit ?? .zero, delayLimit ?? .zero)
            if best != target {
                lowest = [(now, target)]
                set(best)
                return
            }
        }
        if lossBased.isReady, lastReport != nil {
            // The loss-based estimate stays ready, so that the lowest targets are not needed any more.
            applyLossBasedLimit()
            return
        }
        remember(now: now)
        if let lastReport {
            applyReceiverReports(last: lastReport, now: now)
        } else {
            set(target)
        }
    }

    /// Whether loss limits the target.
    var isBoundByLoss: Bool {
        lossBased.isReady ? lossBased.state != .delayBased : isBoundByReports
    }

    private func isStarting(now: Instant) -> Bool {
        firstReport.map { now - $0 < Self.startPhase } ?? true
    }

    private mutating func applyLossBasedLimit() {
        // While loss does not limit the rate, the current delay-based estimate does.
        let isUnbound = deviations.contains(.promptDelay) && lossBased.state == .delayBased
        set((isUnbound ? delayLimit : nil) ?? lossBased.estimate ?? target)
    }

    private mutating func applyReceiverReports(last: Instant, now: Instant) {
        guard now - last < Self.reportLifetime else {
            set(target)
            return
        }
        if fractionLost <= Self.lowLoss {
            // This starts from the lowest target of the last second, so that the growth does not depend on the
            // frequency of calls.
            let before = lowest.first?.rate ?? target
            let isFirst = deviations.contains(.reportGrowth) && !hasMetLimit
            set(before * (isFirst ? Self.firstGrowth : Self.growth) + .bitsPerSecond(1000))
        } else if fractionLost > Self.highLoss {
            isBoundByReports = true
            let isDue = lastDecrease.map { now - $0 >= Self.decreaseInterval + roundTripTime } ?? true
            guard !hasDecreasedSinceReport, isDue else { return }
            lastDecrease = now
            hasDecreasedSinceReport = true
            set(reduced)
        } else {
            isBoundByReports = true
            set(target)
        }
    }

    /// The target after much loss. A rare report includes former loss, so that the target becomes what arrived, unless
    /// the application limited the rate.
    private var reduced: DataRate {
        guard let sampledRate, sampledRate * 2 >= target else { return target * (1 - fractionLost / 2) }
        return min(target, sampledRate * (1 - fractionLost))
    }

    private mutating func remember(now: Instant) {
        let earliest = now.nanoseconds - Self.increaseInterval.wholeNanoseconds
        let expired = lowest.prefix { $0.time.nanoseconds < earliest }.count
        if expired > 0 { lowest.removeFirst(expired) }
        while let last = lowest.last, last.rate >= target { lowest.removeLast() }
        // An omitted target is higher than all stored ones, and those expire before it.
        if lowest.count < Self.lowestCapacity { lowest.append((now, target)) }
    }

    private mutating func set(_ rate: DataRate) {
        target = max(min(rate, delayLimit ?? maximum, remoteLimit ?? maximum, maximum), minimum)
    }
}
