package import RTCShareWireFormat

/// When to probe, and at which rates: at the start, further while probes succeed, when more is allowed or asked for,
/// every few seconds while the application is the limit, and after a drop that may have been none.
///
/// ```
///   initial ──start rate and network──▶ waiting ──1 s without success, or the last probe──▶ complete
///                                         ▲  └ success: further probe ┘                        │
///                                         └────────── periodic, allocation ────────────────────┘
/// ```
///
/// Source: libwebrtc, `goog_cc/probe_controller`. Deviations: probes by a network state estimate, which only a receiver
/// of the same vendor sends, and field trials without effect by default are left out; a start rate of zero waits for a
/// start rate.
package struct ProbeController: Sendable {
    /// What holds the estimate down.
    package enum Limit: Hashable, Sendable {
        /// The delay, which is even: more may fit.
        case delay
        /// The delay, which has just grown.
        case growingDelay
        /// Loss.
        case loss
        /// Loss, from which the estimate recovers.
        case lossRecovering
        /// A round trip that is far too long.
        case roundTrip
    }

    private enum State: Sendable {
        case initial
        /// A result above `threshold` is reason to probe further; nil where none is.
        case waiting(threshold: DataRate?)
        case complete
    }

    /// How long a result is waited for.
    package static let resultTimeout = Duration.seconds(1)
    /// The multiples of the start rate that are probed first.
    package static let initialScales = [3.0, 6.0]
    /// The multiple of a result that is probed next.
    package static let furtherScale = 2.0
    /// The share of a probe's rate that its result has to exceed to probe further.
    package static let furtherThreshold = 0.7
    /// The time between probes while the application is the limit.
    package static let limitedRegionInterval = Duration.seconds(5)
    /// The time between probes while the capacity is not known.
    package static let searchInterval = Duration.seconds(2)
    /// The multiple of the estimate that is probed meanwhile: media follow each step before the next.
    package static let searchScale = 1.5
    /// The multiple of the estimate that is probed in application-limited regions.
    package static let limitedRegionScale = 2.0
    /// The highest rate probed where no maximum was set.
    package static let defaultMaximum = DataRate.kilobitsPerSecond(5000)
    /// For how long the repeated probes of the beginning go on.
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

    /// When the present application-limited region began; nil outside one.
    package var limitedRegionStart: Instant?
    /// When the last such region ended.
    package var limitedRegionEnd: Instant?
    /// Whether to probe every few seconds within such a region.
    package var probesLimitedRegions: Bool
    /// Whether to repeat the initial probes each second for some time, before media flow.
    package var repeatsInitialProbes: Bool
    private var isNetworkAvailable = false
    private var state = State.initial
    private var limit = Limit.delay
    private var start = DataRate.zero
    private var maximum = Self.defaultMaximum
    /// What all media together could use; nil where not known.
    private var allocation: DataRate?
    private var estimate = DataRate.zero
    private var lastProbe: Instant?
    private var repeatedInitialEnd: Instant?
    private var lastDrop: (time: Instant, before: DataRate)?
    private var lastRecoveryProbe: Instant?
    private var nextIdentifier = 1

    /// A controller that waits for a network and a start rate.
    package init(probesLimitedRegions: Bool = false, repeatsInitialProbes: Bool = false) {
        self.probesLimitedRegions = probesLimitedRegions
        self.repeatsInitialProbes = repeatsInitialProbes
    }

    /// Sets the bounds, and begins to probe where that was waited for or a higher maximum asks for it.
    ///
    /// - Parameters:
    ///   - minimum: the start rate where none was ever set.
    ///   - start: the start rate, which becomes the estimate; nil to keep both.
    ///   - maximum: the highest rate; nil for the default.
    ///   - now: the present.
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

    /// Sets what all media together could use, nil where that is not known. More than before is probed for while the
    /// application is the limit.
    package mutating func setAllocation(_ rate: DataRate?, now: Instant) -> [ProbeCluster] {
        let before = allocation
        allocation = rate
        guard case .complete = state, let rate, rate != before, estimate < maximum, estimate < rate,
            limitedRegionStart != nil
        else {
            // Media are about to flow: no reason to go on with the probes of the beginning.
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

    /// Tells whether packets can be sent.
    package mutating func setNetworkAvailable(_ isAvailable: Bool, now: Instant) -> [ProbeCluster] {
        isNetworkAvailable = isAvailable
        switch state {
        case .waiting where !isAvailable: state = .complete
        case .initial: return probeInitially(now: now)
        default: break
        }
        return []
    }

    /// Takes an estimate and what holds it down; a result that leaves room is probed further.
    package mutating func setEstimate(_ rate: DataRate, limit: Limit, now: Instant) -> [ProbeCluster] {
        self.limit = limit
        if rate < estimate * Self.dropThreshold { lastDrop = (now, estimate) }
        estimate = rate
        guard case .waiting(let threshold?) = state, rate > threshold else { return [] }
        return probe([rate * Self.furtherScale], further: true, now: now)
    }

    /// Probes near what was there before a drop, once the delay is normal again: a short disturbance is over then,
    /// while a competing flow or a slower path makes the probe fail. Only in and shortly after an application-limited
    /// region, where traffic alone would not tell.
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

    /// Probes a step further up where the path proved wider than it was thought to be.
    package mutating func searchCapacity(now: Instant) -> [ProbeCluster] {
        guard case .complete = state, isNetworkAvailable, estimate > .zero,
            lastProbe.map({ now - $0 >= Self.searchInterval }) ?? true
        else { return [] }
        return probe([estimate * Self.searchScale], further: false, now: now)
    }

    /// Probes at `rate`, where silence left open whether the path still takes it; once in a second at most.
    package mutating func probe(at rate: DataRate, now: Instant) -> [ProbeCluster] {
        guard case .complete = state, isNetworkAvailable, rate > .zero,
            lastProbe.map({ now - $0 >= Self.resultTimeout }) ?? true
        else { return [] }
        return probe([rate], further: true, now: now)
    }

    /// Begins anew, as for another path. The network's availability, the allocation and application-limited region
    /// under way stay.
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

    /// Lets the time pass: probes that are due.
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
        // Above what media use there is room for their unevenness, but no more.
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
