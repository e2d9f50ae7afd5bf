package import RTCShareWireFormat

/// Decides the times and rates of probes: at the start, again while probes succeed, when the maximum or the allocation
/// grows, every few seconds while the application limits the rate, and after a decrease that may have been unnecessary.
///
/// ```
///   initial ──start rate and network──▶ waiting ──1 s without success, or the last probe──▶ complete
///                                         ▲  └ success: further probe ┘                        │
///                                         └────────── periodic, allocation ────────────────────┘
/// ```
///
/// Source: libwebrtc, `goog_cc/probe_controller`. Deviations: there are no probes from a network state estimate, which
/// only a receiver of the same vendor sends, and no field trials without effect by default; a start rate of zero means
/// that the controller waits for a start rate.
package struct ProbeController: Sendable {
    /// The reason why the estimate is not higher.
    package enum Limit: Hashable, Sendable {
        /// A constant delay: the path may carry more.
        case delay
        /// A delay that has just grown.
        case growingDelay
        /// Packet loss.
        case loss
        /// Packet loss from which the estimate recovers.
        case lossRecovering
        /// A round-trip time that is far too long.
        case roundTrip
    }

    private enum State: Sendable {
        case initial
        /// A result above `threshold` causes a further probe; nil if none does.
        case waiting(threshold: DataRate?)
        case complete
    }

    /// The maximum time until the result of a probe.
    package static let resultTimeout = Duration.seconds(1)
    /// The factors on the start rate of the first probes.
    package static let initialScales = [3.0, 6.0]
    /// The factor on a result of the next probe.
    package static let furtherScale = 2.0
    /// The fraction of a probe's rate that its result must exceed for a further probe.
    package static let furtherThreshold = 0.7
    /// The interval of probes while the application limits the rate.
    package static let limitedRegionInterval = Duration.seconds(5)
    /// The interval of probes while the capacity is unknown.
    package static let searchInterval = Duration.seconds(2)
    /// The factor on the estimate of these probes: media follow each step before the next one.
    package static let searchScale = 1.5
    /// The factor on the estimate of probes in application-limited regions.
    package static let limitedRegionScale = 2.0
    /// The maximum rate of probes if no maximum was set.
    package static let defaultMaximum = DataRate.kilobitsPerSecond(5000)
    /// The duration of the repeated initial probes.
    package static let repeatedInitialPeriod = Duration.seconds(5)
    private static let allocationScales = [1.0, 2.0]
    private static let allocationLimitScale = 2.0
    private static let allocationMargin = 2.0
    private static let lossRecoveringScale = 1.5
    private static let dropThreshold = 0.66
    private static let dropTimeout = Duration.seconds(5)
    private static let recoveryFraction = 0.85
    private static let recoveryUncertainty = 0.05
    private static let recoveryInterval = Duration.seconds(5)
    private static let limitedRegionEndTimeout = Duration.seconds(3)

    /// The start of the current application-limited region; nil outside a region.
    package var limitedRegionStart: Instant?
    /// The end of the last application-limited region.
    package var limitedRegionEnd: Instant?
    /// Whether application-limited regions are probed every few seconds.
    package var probesLimitedRegions: Bool
    /// Whether the initial probes are repeated each second for some time, before media is sent.
    package var repeatsInitialProbes: Bool
    private var isNetworkAvailable = false
    private var state = State.initial
    private var limit = Limit.delay
    private var start = DataRate.zero
    private var maximum = Self.defaultMaximum
    /// The bitrate that all media together could use; nil if unknown.
    private var allocation: DataRate?
    private var estimate = DataRate.zero
    private var lastProbe: Instant?
    private var repeatedInitialEnd: Instant?
    private var lastDrop: (time: Instant, before: DataRate)?
    private var lastRecoveryProbe: Instant?
    private var nextIdentifier = 1

    /// Creates a controller that waits for a network and a start rate.
    package init(probesLimitedRegions: Bool = false, repeatsInitialProbes: Bool = false) {
        self.probesLimitedRegions = probesLimitedRegions
        self.repeatsInitialProbes = repeatsInitialProbes
    }

    /// Sets the limits, and returns the initial probes or a probe of a higher maximum.
    ///
    /// - Parameters:
    /// - minimum: The start rate if none was ever set.
    /// - start: The start rate, which becomes the estimate; nil to keep both.
    /// - maximum: The maximum rate; nil for the default.
    /// - now: The current time.
    package mutating func setBounds(
        minimum: DataRate, start: DataRate?, maximum: DataRate?, now: Instant
    ) -> [ProbeCluster] {
        if let start, start > .zero {
            self.start = start
            estimate = start
        } else if self.start == .zero {
            self.start = minimum
        }
        let before = self.maximum
        self.maximum = maximum ?? Self.defaultMaximum
        switch state {
        case .initial: return probeInitially(now: now)
        case .waiting: return []
        case .complete:
            guard estimate > .zero, before < self.maximum, estimate < self.maximum else { return [] }
            return probe([self.maximum], further: false, now: now)
        }
    }

    /// Sets the bitrate that all media together could use; nil if unknown. A higher bitrate is probed while the
    /// application limits the rate.
    package mutating func setAllocation(_ rate: DataRate?, now: Instant) -> [ProbeCluster] {
        let before = allocation
        allocation = rate
        guard case .complete = state, let rate, rate != before, estimate < maximum, estimate < rate,
            limitedRegionStart != nil
        else {
            // Media will soon be sent: the repeated initial probes are not necessary any more.
            if rate != nil { repeatedInitialEnd = now }
            return []
        }
        let bound = estimate * Self.allocationLimitScale
        var rates: [DataRate] = []
        var isBounded = false
        for scale in Self.allocationScales where !isBounded {
            isBounded = bound < rate * scale
            let next = isBounded ? bound : rate * scale
            if rates.last.map({ next > $0 }) ?? true { rates.append(next) }
        }
        return probe(rates, further: isBounded, now: now)
    }

    /// Sets whether packets can be sent.
    package mutating func setNetworkAvailable(_ isAvailable: Bool, now: Instant) -> [ProbeCluster] {
        isNetworkAvailable = isAvailable
        switch state {
        case .waiting where !isAvailable: state = .complete
        case .initial: return probeInitially(now: now)
        default: break
        }
        return []
    }

    /// Sets the estimate and its limit. A result that leaves room causes a further probe.
    package mutating func setEstimate(_ rate: DataRate, limit: Limit, now: Instant) -> [ProbeCluster] {
        self.limit = limit
        if rate < estimate * Self.dropThreshold { lastDrop = (now, estimate) }
        estimate = rate
        guard case .waiting(let threshold?) = state, rate > threshold else { return [] }
        return probe([rate * Self.furtherScale], further: true, now: now)
    }

    /// Probes near the rate before a decrease, after the delay is normal again. After a short disturbance the probe
    /// succeeds, but a competing flow or a slower path makes it fail. This applies only in and shortly after an
    /// application-limited region, in which traffic does not show the difference.
    package mutating func requestRecoveryProbe(now: Instant) -> [ProbeCluster] {
        let endedRecently = limitedRegionEnd.map { now - $0 < Self.limitedRegionEndTimeout } ?? false
        guard case .complete = state, limitedRegionStart != nil || endedRecently, let lastDrop else { return [] }
        let rate = lastDrop.before * Self.recoveryFraction
        guard rate * (1 - Self.recoveryUncertainty) > estimate, now - lastDrop.time < Self.dropTimeout,
            lastRecoveryProbe.map({ now - $0 > Self.recoveryInterval }) ?? true
        else { return [] }
        lastRecoveryProbe = now
        return probe([rate], further: false, now: now)
    }

    /// Probes a higher rate, of at most `limit`, after the path proved to carry more than assumed.
    package mutating func searchCapacity(limit: DataRate, now: Instant) -> [ProbeCluster] {
        guard case .complete = state, isNetworkAvailable, estimate > .zero,
            lastProbe.map({ now - $0 >= Self.searchInterval }) ?? true
        else { return [] }
        return probe([min(estimate * Self.searchScale, limit)], further: false, now: now)
    }

    /// Probes at `rate` after a time without feedback, which left open whether the path still carries it; at most once
    /// per second.
    package mutating func probe(at rate: DataRate, now: Instant) -> [ProbeCluster] {
        guard case .complete = state, isNetworkAvailable, rate > .zero,
            lastProbe.map({ now - $0 >= Self.resultTimeout }) ?? true
        else { return [] }
        return probe([rate], further: true, now: now)
    }

    /// Resets the controller, for example for another path. The network's availability, the allocation and the current
    /// application-limited region stay.
    package mutating func reset(now: Instant) {
        limit = .delay
        state = .initial
        lastProbe = nil
        estimate = .zero
        start = .zero
        maximum = Self.defaultMaximum
        lastRecoveryProbe = now
        limitedRegionEnd = nil
        lastDrop = nil
    }

    /// Returns the probes that are due.
    package mutating func process(now: Instant) -> [ProbeCluster] {
        let sinceProbe = lastProbe.map { now - $0 }
        if case .waiting = state, sinceProbe.map({ $0 > Self.resultTimeout }) ?? true { state = .complete }
        guard case .complete = state, estimate > .zero else { return [] }
        if let end = repeatedInitialEnd, end > now, sinceProbe.map({ $0 >= Self.resultTimeout }) ?? true {
            return probe([estimate * Self.initialScales[0]], further: true, now: now)
        }
        if probesLimitedRegions, let start = limitedRegionStart,
            now - max(start, lastProbe ?? start) >= Self.limitedRegionInterval
        {
            return probe([estimate * Self.limitedRegionScale], further: true, now: now)
        }
        return []
    }

    private mutating func probeInitially(now: Instant) -> [ProbeCluster] {
        guard isNetworkAvailable, start > .zero else { return [] }
        if repeatsInitialProbes, allocation == nil { repeatedInitialEnd = now.advanced(by: Self.repeatedInitialPeriod) }
        return probe(Self.initialScales.map { start * $0 }, further: true, now: now)
    }

    private mutating func probe(_ rates: [DataRate], further: Bool, now: Instant) -> [ProbeCluster] {
        // The limit is above the bitrate of media, since that varies, but not far above.
        var bound = maximum
        if let allocation { bound = min(bound, allocation * Self.allocationMargin) }
        switch limit {
        case .roundTrip, .growingDelay, .loss: return []
        case .lossRecovering: bound = min(bound, estimate * Self.lossRecoveringScale)
        case .delay: break
        }
        let isBeginning = repeatedInitialEnd.map { now < $0 } ?? false
        let clusters = rates.map { rate in
            defer { nextIdentifier += 1 }
            return ProbeCluster(
                identifier: nextIdentifier, rate: min(rate, bound),
                duration: isBeginning ? .milliseconds(100) : .milliseconds(15),
                burstInterval: isBeginning ? .milliseconds(20) : .milliseconds(2))
        }
        lastProbe = now
        let isBounded = rates.contains { $0 >= bound }
        state =
            further && !isBounded
            ? .waiting(threshold: clusters.last.map { $0.rate * Self.furtherThreshold }) : .complete
        return clusters
    }
}
