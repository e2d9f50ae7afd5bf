package import RTCShareWireFormat

/// Estimates the bandwidth of a path from its receiver's feedback: the whole controller of Google congestion control,
/// one for each transport.
///
/// It reads no clock and sends nothing. Its owner reports every sent packet and all feedback, calls ``process(now:)``
/// at ``nextDeadline``, takes probes from ``pollProbe()``, and applies ``target``, ``pacingRate`` and ``paddingRate``.
///
/// ```
///   feedback ─┬─▶ throughput ──┬─▶ delay-based ─▶ loss-based ─▶ bounds ─▶ window ─▶ target
///             ├─▶ probe result ┘                                  ▲
///             └─▶ round trip                        REMB, reports ┘
/// ```
///
/// Source: libwebrtc, `goog_cc/goog_cc_network_control`. Each deviation has a switch: ``Deviations``.
///
/// It is large and used for every packet: it is not copyable, so that no access makes a copy.
package struct BandwidthEstimator: ~Copyable, Sendable {
    /// The rates of a transport.
    package struct Configuration: Sendable, Hashable {
        /// The initial estimate.
        package var start = DataRate.kilobitsPerSecond(300)
        /// The minimum target.
        package var minimum = DataRate.kilobitsPerSecond(30)
        /// The maximum target, for video, audio and retransmissions together.
        package var maximum = DataRate.kilobitsPerSecond(2500)
        /// The active deviations from libwebrtc.
        package var deviations = Deviations.all

        /// Creates the default rates.
        package init() {}
    }

    /// The reason why the target is not higher.
    package enum Limitation: String, Hashable, Sendable, CaseIterable {
        /// Delay, which would grow.
        case delay
        /// Packet loss.
        case loss
        /// The receiver's estimate (REMB).
        case remote
        /// The application, which sends less than the path can carry.
        case application
        /// The configured maximum.
        case maximum
        /// The lack of feedback for sent packets.
        case feedback
        /// The bytes in flight, which exceed the path's capacity in a round trip.
        case window
    }

    /// The interval of processing while packets are sent.
    package static let processInterval = Duration.milliseconds(25)
    /// The interval of processing while no packets are sent.
    package static let idleInterval = Duration.seconds(1)
    /// The ratio of pacing rate to target: frames differ in size, and each must be sent before the next one.
    package static let pacingFactor = 2.5
    /// The maximum ratio, if the path is known to carry it.
    static let largestPacingFactor = 32.0
    /// The fraction of the maximum above which the maximum counts as the limit: the estimate fluctuates by a few
    /// percent.
    private static let unboundShare = 0.9
    /// The factor on libwebrtc's growth near the capacity.
    private static let growth = 3.0
    /// The time after a packet for which processing is frequent: without and with feedback for all packets.
    private static let activeTimeUnanswered = Duration.seconds(2)
    private static let activeTimeAnswered = Duration.milliseconds(300)

    /// The bitrate that media and retransmissions together can use.
    package private(set) var target: DataRate
    /// The estimated bandwidth of the path, before the bytes in flight lower the target.
    package var estimate: DataRate { sendSide.target }
    /// The rate of the pacer.
    package private(set) var pacingRate: DataRate
    /// The rate up to which padding fills the rate that media leave unused; zero for none.
    package private(set) var paddingRate = DataRate.zero
    /// The reason why the target is not higher.
    package private(set) var limitation = Limitation.delay
    /// The fraction lost in the latest sample of receiver reports, 0...1.
    package var fractionLost: Double { sendSide.fractionLost }
    /// The rate at which packets arrive; nil if unknown.
    package var acknowledged: DataRate? { throughput.estimate }

    /// The maximum that the peer estimates (REMB); nil for none.
    package var remoteLimit: DataRate? { sendSide.remoteLimit }

    /// The initial estimate within the bounds.
    package var start: DataRate { min(max(configuration.start, bounds.minimum), bounds.maximum) }
    /// The minimum target.
    package var minimum: DataRate { bounds.minimum }
    /// The maximum target.
    package var maximum: DataRate { bounds.maximum }

    /// The time at which the last packet with a transport-wide number was sent; nil if there is none.
    package var lastSent: Instant? { outstanding.lastSent }

    let configuration: Configuration
    var deviations: Deviations { configuration.deviations }
    private(set) var bounds: (minimum: DataRate, maximum: DataRate)
    private(set) var isNetworkAvailable = false
    var allocation: DataRate?
    var outstanding = OutstandingPackets()
    var throughput = RobustThroughputEstimator()
    /// A faster measurement of the arrival rate, for decreases.
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
    /// The round-trip time of the newest packet in feedback: a packet that is requested again earlier can be in flight.
    /// It is nil without feedback.
    package internal(set) var feedbackRoundTrip: Duration?
    var roundTripTime: Duration?
    var lastProcess: Instant?
    var lastActivity: Instant?
    var lastFeedback: Instant?
    /// The estimate before feedback stopped; nil while feedback arrives.
    var estimateBeforeBackoff: DataRate?
    private var probes: [ProbeCluster] = []
    /// The latest values that the probe controller received.
    private var announced: (rate: DataRate, limit: ProbeController.Limit)?

    /// Creates an estimator for a path that is not available yet.
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

    /// The time of the next ``process(now:)``; nil while there is no path.
    package var nextDeadline: Instant? {
        guard isNetworkAvailable, let lastProcess else { return nil }
        let activeTime = outstanding.bytes > 0 ? Self.activeTimeUnanswered : Self.activeTimeAnswered
        let isActive = lastActivity.map { lastProcess - $0 < activeTime } ?? true
        return lastProcess.advanced(by: isActive ? Self.processInterval : Self.idleInterval)
    }

    /// Removes and returns the oldest pending probe; nil if there is none.
    package mutating func pollProbe() -> ProbeCluster? {
        probes.takeFirst()
    }

    /// Records that packets can be sent. The first time this starts probes from the start rate. After
    /// ``networkUnavailable(now:)`` it starts probes that test the last estimate.
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

    /// Records that packets cannot be sent. The estimate stays, and packets in flight no longer count.
    package mutating func networkUnavailable(now: Instant) {
        guard isNetworkAvailable else { return }
        isNetworkAvailable = false
        probes = []
        add(probeController.setNetworkAvailable(false, now: now))
        outstanding.forget()
    }

    /// Records that packets use another path from now on. This resets the estimator to the start rate and starts
    /// probes.
    package mutating func pathChanged(now: Instant) {
        let start = start
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

    /// Sets the minimum and maximum target. A higher maximum causes a probe.
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

    /// Sets the bitrate that all media together could use; nil if it is unknown. Probes don't go far beyond it.
    package mutating func setAllocation(maximum: DataRate?, now: Instant) {
        guard maximum != allocation else { return }
        allocation = maximum
        add(probeController.setAllocation(maximum, now: now))
        announce(now: now)
    }

    /// Sets a round-trip time from RTCP or connectivity checks, without smoothing.
    package mutating func setRoundTripTime(_ time: Duration, now: Instant) {
        guard time >= .zero else { return }
        roundTripTime = time
        delayBased.setRoundTripTime(time)
        sendSide.setRoundTripTime(time)
    }

    /// Sets the receiver's estimate (REMB, draft-alvestrand-rmcat-remb-03); nil if there is none any more.
    package mutating func setRemoteEstimate(_ rate: DataRate?, now: Instant) {
        guard rate != sendSide.remoteLimit else { return }
        sendSide.setRemoteLimit(rate)
        update(now: now)
    }

    /// Does everything that is due.
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
        // Old probes are useless later.
        if probes.count > 5 { probes.removeFirst(probes.count - 5) }
    }

    /// Updates the estimate and the rates that depend on it.
    mutating func update(now: Instant) {
        let before = sendSide.target
        sendSide.update(waiting: waitingTime, now: now)
        if sendSide.isBackingOff, deviations.contains(.returnProbe) {
            estimateBeforeBackoff = estimateBeforeBackoff ?? before
            // When feedback returns, the path may carry less than before.
            delayBased.lower(to: sendSide.target, now: now)
            if let estimate = delayBased.estimate { sendSide.setDelayLimit(estimate) }
        }
        announce(now: now)
    }

    /// Probes a path that carries more than when it was last full, since growth by a fraction would take long.
    private mutating func searchCapacity(now: Instant) {
        let limit = remoteLimit ?? bounds.maximum
        let wanted = min(bounds.maximum, allocation ?? bounds.maximum, limit)
        guard deviations.contains(.capacitySearch), delayBased.rateControl.isCapacityUnknown, estimate < wanted,
            acknowledged != nil
        else { return }
        add(probeController.searchCapacity(limit: limit, now: now))
    }

    /// The time without feedback when the newest packet was sent.
    var waitingTime: Duration {
        guard let lastFeedback, let lastSent = outstanding.lastSent else { return .zero }
        return max(.zero, lastSent - lastFeedback) + (feedbackRoundTrip ?? .zero)
    }

    /// Derives the target, the pacing rate and the padding rate.
    mutating func announce(now: Instant) {
        let estimate = sendSide.target
        let limit = probeLimit
        if announced.map({ $0.rate != estimate || $0.limit != limit }) ?? true, isNetworkAvailable {
            announced = (estimate, limit)
            limitedRegion.setEstimate(estimate)
            add(probeController.setEstimate(estimate, limit: limit, now: now))
        }
        window.update(target: estimate)
        // Competing flows fill the queue, so that the bytes in flight are not our own queue.
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

    /// Returns the rate at which a frame can be sent if the path is not what limits the rate; zero otherwise.
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
