package import RTCShareWireFormat

/// Estimates what a path carries, out of what its receiver tells: the whole controller of Google congestion control, one
/// for each transport.
///
/// It reads no clock and sends nothing. Its owner tells it every packet that leaves and all feedback that comes, lets it
/// run when ``nextDeadline`` is due, takes the probes from ``pollProbe()``, and goes by ``target``, ``pacingRate`` and
/// ``paddingRate``.
///
/// ```
///   feedback ─┬─▶ throughput ──┬─▶ delay-based ─▶ loss-based ─▶ bounds ─▶ window ─▶ target
///             ├─▶ probe result ┘                                  ▲
///             └─▶ round trip                        REMB, reports ┘
/// ```
///
/// Source: libwebrtc, `goog_cc/goog_cc_network_control`. What differs has a switch each: ``Deviations``.
///
/// It is large, and is asked with every packet: not copyable, so that no question is answered by a copy of it.
package struct BandwidthEstimator: ~Copyable, Sendable {
    /// The rates of a transport.
    package struct Configuration: Sendable, Hashable {
        /// Where the estimate begins.
        package var start = DataRate.kilobitsPerSecond(300)
        /// What the target does not go below.
        package var minimum = DataRate.kilobitsPerSecond(30)
        /// What the target does not go above: pictures, sound and retransmissions together.
        package var maximum = DataRate.kilobitsPerSecond(2500)
        /// What is done otherwise than in libwebrtc.
        package var deviations = Deviations.all

        /// The default rates.
        package init() {}
    }

    /// What keeps the target from being higher.
    package enum Limitation: String, Hashable, Sendable, CaseIterable {
        /// The delay, which would grow.
        case delay
        /// Loss.
        case loss
        /// What the receiver estimates (REMB).
        case remote
        /// The application, which sends less than the path would take.
        case application
        /// The maximum that was set.
        case maximum
        /// No feedback comes for what is sent.
        case feedback
        /// More is under way than the path carries in a round trip.
        case window
    }

    /// The time between two runs while packets flow.
    package static let processInterval = Duration.milliseconds(25)
    /// The time between two runs while none do.
    package static let idleInterval = Duration.seconds(1)
    /// The multiple of the target at which packets leave: frames differ in size, and each is to be out before the next.
    package static let pacingFactor = 2.5
    /// As many times the target at most, where the path was seen to carry that.
    static let largestPacingFactor = 32.0
    /// Of the maximum, what the estimate has to be for the maximum to be what bounds it: it wavers by some percent.
    private static let unboundShare = 0.9
    /// The multiple of libwebrtc's growth near the capacity.
    private static let growth = 3.0
    /// How long after a packet it is looked after often: while feedback is waited for, and where all is there.
    private static let activeTimeUnanswered = Duration.seconds(2)
    private static let activeTimeAnswered = Duration.milliseconds(300)

    /// What media and retransmissions may take together.
    package private(set) var target: DataRate
    /// The bandwidth of the path, before the packets that are under way lower the target.
    package var estimate: DataRate { sendSide.target }
    /// The rate that the pacer goes by.
    package private(set) var pacingRate: DataRate
    /// The rate up to which padding fills what media leave free; zero for none.
    package private(set) var paddingRate = DataRate.zero
    /// What keeps the target from being higher.
    package private(set) var limitation = Limitation.delay
    /// The share lost by the newest sample of receiver reports, 0...1.
    package var fractionLost: Double { sendSide.fractionLost }
    /// The rate at which packets arrive; nil where not known.
    package var acknowledged: DataRate? { throughput.estimate }

    /// When the last packet left; nil where none did.
    package var lastSent: Instant? { outstanding.lastSent }

    let configuration: Configuration
    var deviations: Deviations { configuration.deviations }
    private(set) var bounds: (minimum: DataRate, maximum: DataRate)
    private(set) var isNetworkAvailable = false
    var allocation: DataRate?
    var outstanding = OutstandingPackets()
    var throughput = RobustThroughputEstimator()
    /// Follows what arrives faster, for when it falls.
    var recentArrivals = RecentArrivals()
    var queueing = QueueingDelay()
    var competing = CompetingRate()
    var burst = ForeignBurst()
    var pictures = BurstRate()
    var background = BackgroundLoss()
    var probeEstimator = ProbeEstimator()
    var probeController = ProbeController(probesLimitedRegions: true)
    var delayBased = DelayBasedEstimator()
    var sendSide: SendSideEstimator
    var limitedRegion = ALRDetector()
    var window = CongestionWindow()
    /// The round trip of the newest packet that feedback tells of: what is asked for again sooner may be on its way. Nil
    /// where no feedback comes.
    package internal(set) var feedbackRoundTrip: Duration?
    var roundTripTime: Duration?
    var lastProcess: Instant?
    var lastActivity: Instant?
    var lastFeedback: Instant?
    /// The estimate before feedback stayed away; nil while it comes.
    var estimateBeforeBackoff: DataRate?
    private var probes: [ProbeCluster] = []
    /// What the probe controller was last told.
    private var announced: (rate: DataRate, limit: ProbeController.Limit)?

    /// An estimator of a path that is not there yet.
    package init(configuration: Configuration) {
        self.configuration = configuration
        let minimum = max(configuration.minimum, .bitsPerSecond(1))
        bounds = (minimum, max(configuration.maximum, minimum))
        sendSide = SendSideEstimator(
            start: configuration.start, minimum: bounds.minimum, maximum: bounds.maximum,
            deviations: configuration.deviations)
        target = sendSide.target
        pacingRate = sendSide.target * Self.pacingFactor
        begin(at: sendSide.target)
    }

    /// When ``process(now:)`` is next due; nil while there is no path.
    package var nextDeadline: Instant? {
        guard isNetworkAvailable, let lastProcess else { return nil }
        let activeTime = outstanding.bytes > 0 ? Self.activeTimeUnanswered : Self.activeTimeAnswered
        let isActive = lastActivity.map { lastProcess - $0 < activeTime } ?? true
        return lastProcess.advanced(by: isActive ? Self.processInterval : Self.idleInterval)
    }

    /// The oldest probe that was asked for and not taken; nil where there is none.
    package mutating func pollProbe() -> ProbeCluster? {
        probes.takeFirst()
    }

    /// Tells that packets can leave. The first time probes follow from the start rate; after
    /// ``networkUnavailable(now:)`` they test whether the last estimate still holds.
    package mutating func networkAvailable(now: Instant) {
        guard !isNetworkAvailable else { return }
        isNetworkAvailable = true
        lastProcess = now
        lastActivity = now
        if announced == nil {
            add(
                probeController.setBounds(
                    minimum: bounds.minimum, start: sendSide.target, maximum: bounds.maximum, now: now))
            add(probeController.setNetworkAvailable(true, now: now))
        } else {
            add(probeController.setNetworkAvailable(true, now: now))
            if deviations.contains(.returnProbe) { add(probeController.probe(at: estimate, now: now)) }
        }
        announce(now: now)
    }

    /// Tells that no packets can leave. The estimate stays; what is under way is forgotten.
    package mutating func networkUnavailable(now: Instant) {
        guard isNetworkAvailable else { return }
        isNetworkAvailable = false
        probes = []
        add(probeController.setNetworkAvailable(false, now: now))
        outstanding.forget()
    }

    /// Tells that packets take another path from now on: all that was learnt is forgotten, it begins at the start rate,
    /// and probes follow.
    package mutating func pathChanged(now: Instant) {
        let start = min(max(configuration.start, bounds.minimum), bounds.maximum)
        outstanding.forget()
        feedbackRoundTrip = nil
        lastFeedback = nil
        probes = []
        throughput = RobustThroughputEstimator()
        recentArrivals = RecentArrivals()
        queueing = QueueingDelay()
        competing = CompetingRate()
        burst = ForeignBurst()
        pictures = BurstRate()
        background = BackgroundLoss()
        probeEstimator = ProbeEstimator()
        window = CongestionWindow()
        let remote = sendSide.remoteLimit
        sendSide = SendSideEstimator(
            start: start, minimum: bounds.minimum, maximum: bounds.maximum, deviations: deviations)
        sendSide.setRemoteLimit(remote)
        estimateBeforeBackoff = nil
        announced = nil
        begin(at: start)
        probeController.reset(now: now)
        add(probeController.setBounds(minimum: bounds.minimum, start: start, maximum: bounds.maximum, now: now))
        announce(now: now)
    }

    /// Sets what the target does not go below and above. A higher maximum is probed for.
    package mutating func setBounds(minimum: DataRate, maximum: DataRate, now: Instant) {
        let minimum = max(minimum, .bitsPerSecond(1))
        bounds = (minimum, max(maximum, minimum))
        sendSide.setBounds(minimum: bounds.minimum, maximum: bounds.maximum)
        delayBased.setMinimum(bounds.minimum)
        if announced != nil {
            add(probeController.setBounds(minimum: bounds.minimum, start: nil, maximum: bounds.maximum, now: now))
        }
        announce(now: now)
    }

    /// Sets what all media together could use; nil where that is not known. Nothing far beyond it is probed for.
    package mutating func setAllocation(maximum: DataRate?, now: Instant) {
        guard maximum != allocation else { return }
        allocation = maximum
        add(probeController.setAllocation(maximum, now: now))
        announce(now: now)
    }

    /// Takes a round trip time of RTCP or of connectivity checks, not smoothed.
    package mutating func setRoundTripTime(_ time: Duration, now: Instant) {
        guard time >= .zero else { return }
        roundTripTime = time
        delayBased.setRoundTripTime(time)
        sendSide.setRoundTripTime(time)
    }

    /// Takes what the receiver says it can take altogether (REMB, draft-alvestrand-rmcat-remb-03); nil where it says nothing
    /// any more.
    package mutating func setRemoteEstimate(_ rate: DataRate?, now: Instant) {
        guard rate != sendSide.remoteLimit else { return }
        sendSide.setRemoteLimit(rate)
        update(now: now)
    }

    /// Does what is due.
    package mutating func process(now: Instant) {
        guard isNetworkAvailable else { return }
        lastProcess = max(now, lastProcess ?? now)
        if deviations.contains(.silentLimit) { limitedRegion.process(now: now) }
        updateLimitedRegion(now: now)
        add(probeController.process(now: now))
        searchCapacity(now: now)
        update(now: now)
    }

    private mutating func begin(at start: DataRate) {
        delayBased = DelayBasedEstimator(growth: deviations.contains(.fastGrowth) ? Self.growth : 1)
        delayBased.setStart(start)
        delayBased.setMinimum(bounds.minimum)
        if let roundTripTime {
            delayBased.setRoundTripTime(roundTripTime)
            sendSide.setRoundTripTime(roundTripTime)
        }
        limitedRegion.setEstimate(start)
    }

    mutating func add(_ clusters: [ProbeCluster]) {
        guard isNetworkAvailable, !clusters.isEmpty else { return }
        for cluster in clusters {
            outstanding.add(cluster)
            probes.append(cluster)
        }
        // Probes that nobody takes are of no use later.
        if probes.count > 5 { probes.removeFirst(probes.count - 5) }
    }

    /// Decides the estimate anew and tells what follows from it.
    mutating func update(now: Instant) {
        let before = sendSide.target
        sendSide.update(waiting: waitingTime, now: now)
        if sendSide.isBackingOff, deviations.contains(.returnProbe) {
            estimateBeforeBackoff = estimateBeforeBackoff ?? before
            // Once feedback is back, the path is not held to carry what it did.
            delayBased.lower(to: sendSide.target, now: now)
            if let estimate = delayBased.estimate { sendSide.setDelayLimit(estimate) }
        }
        announce(now: now)
    }

    /// Where the path proved wider than it was when last found full, growing by shares would take long: probe.
    private mutating func searchCapacity(now: Instant) {
        let wanted = min(bounds.maximum, allocation ?? bounds.maximum)
        guard deviations.contains(.capacitySearch), delayBased.rateControl.isCapacityUnknown, estimate < wanted,
            acknowledged != nil
        else { return }
        add(probeController.searchCapacity(now: now))
    }

    /// How long feedback had stayed away as the newest packet left.
    var waitingTime: Duration {
        guard let lastFeedback, let lastSent = outstanding.lastSent else { return .zero }
        return max(.zero, lastSent - lastFeedback) + (feedbackRoundTrip ?? .zero)
    }

    /// Derives the rates that others go by.
    mutating func announce(now: Instant) {
        let estimate = sendSide.target
        let limit = probeLimit
        if announced.map({ $0.rate != estimate || $0.limit != limit }) ?? true, isNetworkAvailable {
            announced = (estimate, limit)
            limitedRegion.setEstimate(estimate)
            add(probeController.setEstimate(estimate, limit: limit, now: now))
        }
        window.update(target: estimate)
        // Beside others that fill the queue, what is under way is that queue and none of one's own making.
        let isExceeded = isWindowExceeded(now: now)
        let pushed =
            competing.isActive || !deviations.contains(.window)
            ? estimate
            : max(window.push(estimate, outstanding: outstanding.bytes, isExceeded: isExceeded), bounds.minimum)
        target = min(pushed, estimate)
        pacingRate = isExceeded ? target : max(target * Self.pacingFactor, burstRate(now: now))
        paddingRate = sendSide.lossBased.state == .increasing ? min(target, allocation ?? target) : .zero
        limitation = limitation(estimate: estimate)
    }

    /// How fast a picture may leave where not the path is what keeps the rate from being higher; else zero.
    private func burstRate(now: Instant) -> DataRate {
        guard deviations.contains(.burstRate), sendSide.target >= bounds.maximum * Self.unboundShare,
            case .delay = probeLimit, !competing.isActive,
            let rate = pictures.rate(now: now)
        else { return .zero }
        return min(rate, target * Self.largestPacingFactor)
    }

    private var probeLimit: ProbeController.Limit {
        if delayBased.usage != .normal { return .growingDelay }
        if sendSide.isBackingOff { return .roundTrip }
        switch sendSide.lossBased.state {
        case .decreasing, .increasing: return .loss
        case .delayBased: return .delay
        }
    }

    private func limitation(estimate: DataRate) -> Limitation {
        if sendSide.isBackingOff { return .feedback }
        if target < estimate { return .window }
        if estimate >= bounds.maximum { return .maximum }
        if let remote = sendSide.remoteLimit, estimate >= remote { return .remote }
        if sendSide.isBoundByLoss { return .loss }
        return limitedRegion.startTime != nil ? .application : .delay
    }
}
