internal import RTCShareWireFormat

/// Puts the bounds together: the delay-based and the loss-based estimate, what the receiver estimates, and the missing of
/// any answer; and where there is no transport-wide feedback, the loss that receiver reports tell.
///
/// Source: libwebrtc, `goog_cc/send_side_bandwidth_estimation`. Deviations: while the loss-based estimate does not bind, the
/// delay-based one is followed at once, not with the next interval (`Deviations.promptDelay`); by reports alone the rate grows
/// by half each second until the first loss or the first queue, where libwebrtc grows by 8 percent from the first
/// (`Deviations.reportGrowth`); no separate stable target.
struct SendSideEstimator: Sendable {
    /// What the first loss reports are not yet held against.
    static let startPhase = Duration.seconds(2)
    /// Packets that make up a sample of loss.
    static let samplePackets = 20
    /// The loss up to which the rate grows by reports.
    static let lowLoss = 0.02
    /// The loss above which it falls.
    static let highLoss = 0.1
    /// The growth in a second by reports.
    private static let growth = 1.08
    /// The same while nothing has been lost, and nothing waits.
    private static let firstGrowth = 1.5
    /// A round trip that is longer than the shortest by more than this has a queue in it.
    private static let queueingDelay = Duration.milliseconds(50)
    /// Waiting this long for feedback lowers the rate.
    static let feedbackTimeout = Duration.seconds(3)
    /// The rate that a missing feedback does not go below.
    static let backoffFloor = DataRate.kilobitsPerSecond(5)
    private static let backoffInterval = Duration.seconds(1)
    private static let backoffFactor = 0.8
    private static let increaseInterval = Duration.seconds(1)
    private static let decreaseInterval = Duration.milliseconds(300)
    private static let reportLifetime = Duration.seconds(6)

    /// The rate that all of this allows.
    private(set) var target: DataRate
    /// The loss-based estimate, of which the results are given by `receive`.
    private(set) var lossBased = LossBasedEstimator()
    /// What the delay allows; nil where nothing is known.
    private(set) var delayLimit: DataRate?
    /// What the receiver says it can take; nil where it does not.
    private(set) var remoteLimit: DataRate?
    /// The share lost by the newest sample of receiver reports.
    private(set) var fractionLost = 0.0
    /// Whether the rate went down because no feedback comes.
    private(set) var isBackingOff = false
    /// Whether receiver reports lower the rate.
    private(set) var isBoundByReports = false
    private(set) var minimum: DataRate
    private(set) var maximum: DataRate
    private let deviations: Deviations
    private var roundTripTime = Duration.zero
    private var shortestRoundTrip: Duration?
    /// Whether a report told of loss, or a round trip of a queue.
    private var hasMetLimit = false
    private var expected = 0
    private var lost = 0.0
    private var firstReport: Instant?
    private var lastReport: Instant?
    private var hasDecreasedSinceReport = false
    private var lastDecrease: Instant?
    private var lastBackoff: Instant?
    /// Targets that are remembered: far more than the usual feedback of a second makes.
    static let lowestCapacity = 256
    /// The targets of the last second that are lower than all after them, from the oldest.
    private(set) var lowest: [(time: Instant, rate: DataRate)] = []

    /// Begins at `start`.
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

    /// Takes what the receiver estimates; counts with the next `update`.
    mutating func setRemoteLimit(_ rate: DataRate?) {
        remoteLimit = rate
    }

    /// Takes a rate that was measured, whatever the delay said before.
    mutating func setMeasured(_ rate: DataRate) {
        delayLimit = nil
        lowest = []
        set(rate)
    }

    /// Takes the delay-based estimate.
    mutating func setDelayLimit(_ rate: DataRate) {
        delayLimit = rate
        set(target)
    }

    /// Takes results for the loss-based estimate.
    mutating func receive(
        _ results: [TransportFeedbackTracker.PacketResult], acknowledged: DataRate?, isApplicationLimited: Bool,
        background: Double
    ) {
        if let acknowledged { lossBased.setAcknowledged(acknowledged) }
        lossBased.update(
            results, delayBased: delayLimit, isApplicationLimited: isApplicationLimited,
            background: background)
    }

    /// Takes a receiver report that stands for `packets` packets. True where it completes a sample of loss.
    mutating func receive(fractionLost: Double, packets: Int, now: Instant) -> Bool {
        firstReport = firstReport ?? now
        guard packets > 0 else { return false }
        expected += min(packets, 1 << 20)
        lost += Double(min(packets, 1 << 20)) * min(max(fractionLost, 0), 1)
        guard expected >= Self.samplePackets else { return false }
        self.fractionLost = min(1, lost / Double(expected))
        if self.fractionLost > Self.lowLoss { hasMetLimit = true }
        expected = 0
        lost = 0
        lastReport = now
        hasDecreasedSinceReport = false
        return true
    }

    /// Decides the target anew.
    ///
    /// - Parameter waiting: how long feedback had stayed away as the newest packet was sent; zero where none ever came.
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
            // Once it is ready it stays so: nobody asks for the lowest targets any more.
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

    /// Whether loss is what keeps the target down.
    var isBoundByLoss: Bool {
        lossBased.isReady ? lossBased.state != .delayBased : isBoundByReports
    }

    private func isStarting(now: Instant) -> Bool {
        firstReport.map { now - $0 < Self.startPhase } ?? true
    }

    private mutating func applyLossBasedLimit() {
        // Where loss does not bind, the delay does, and what it allows by now.
        let isUnbound = deviations.contains(.promptDelay) && lossBased.state == .delayBased
        set((isUnbound ? delayLimit : nil) ?? lossBased.estimate ?? target)
    }

    private mutating func applyReceiverReports(last: Instant, now: Instant) {
        guard now - last < Self.reportLifetime else {
            set(target)
            return
        }
        if fractionLost <= Self.lowLoss {
            // From the lowest of the last second, so that the rate grows by a share a second however often this runs.
            let before = lowest.first?.rate ?? target
            let isFirst = deviations.contains(.reportGrowth) && !hasMetLimit
            set(before * (isFirst ? Self.firstGrowth : Self.growth) + .bitsPerSecond(1000))
        } else if fractionLost > Self.highLoss {
            isBoundByReports = true
            let isDue = lastDecrease.map { now - $0 >= Self.decreaseInterval + roundTripTime } ?? true
            guard !hasDecreasedSinceReport, isDue else { return }
            lastDecrease = now
            hasDecreasedSinceReport = true
            set(target * (1 - fractionLost / 2))
        } else {
            isBoundByReports = true
            set(target)
        }
    }

    private mutating func remember(now: Instant) {
        let earliest = now.nanoseconds - Self.increaseInterval.wholeNanoseconds
        let expired = lowest.prefix { $0.time.nanoseconds < earliest }.count
        if expired > 0 { lowest.removeFirst(expired) }
        while let last = lowest.last, last.rate >= target { lowest.removeLast() }
        // What is left out is higher than all that is there: it would not be gone by before those are forgotten.
        if lowest.count < Self.lowestCapacity { lowest.append((now, target)) }
    }

    private mutating func set(_ rate: DataRate) {
        target = max(min(rate, delayLimit ?? maximum, remoteLimit ?? maximum, maximum), minimum)
    }
}
