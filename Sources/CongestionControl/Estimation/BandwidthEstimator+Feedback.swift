package import RTCShareRTP
package import RTCShareWireFormat

extension BandwidthEstimator {
    /// Takes note of a packet that leaves: every one, with a transport-wide number or not.
    ///
    /// - Parameters:
    ///   - number: its transport-wide number; nil where it bears none.
    ///   - size: its bytes, counted alike for all.
    ///   - cluster: the identifier of the probe that it is part of; nil for none.
    ///   - now: when it leaves.
    package mutating func packetSent(number: TransportSequenceNumber?, size: Int, cluster: Int?, now: Instant) {
        let size = min(max(0, size), 1 << 20)
        outstanding.packetSent(number, size: size, cluster: cluster, now: now)
        lastActivity = now
        limitedRegion.packetSent(bytes: size, now: now)
        updateLimitedRegion(now: now)
    }

    /// Takes what transport-wide feedback says of packets that were sent, arrived and lost ones.
    package mutating func receive(_ results: [TransportFeedbackTracker.PacketResult], now: Instant) {
        guard !results.isEmpty else { return }
        lastActivity = now
        lastFeedback = now
        outstanding.receive(results)
        let arrived = Self.arrived(results)
        if let first = arrived.first {
            var sent = (first: first.sent, last: first.sent)
            for result in arrived { sent = (min(sent.first, result.sent), max(sent.last, result.sent)) }
            window.receive(roundTrip: max(.zero, now - sent.first))
            feedbackRoundTrip = max(.zero, now - sent.last)
        }
        throughput.receive(results)
        if deviations.contains(.burstRate) { pictures.receive(results, now: now) }
        queueing.receive(arrived, now: now)
        recentArrivals.receive(arrived, queueing: queueing)
        // What the path loses anyway would have arrived otherwise: it is no part of what is too much.
        let kept = 1 / (1 - background.share)
        let acknowledged = throughput.estimate.map { $0 * kept }
        // After little else, a burst arrives faster than the mean over a second says, and shows what the path carries.
        let burst = deviations.contains(.burstCut) ? recentArrivals.rate ?? .zero : .zero
        let carried = acknowledged.map { max($0, burst * kept) }
        let probe = probeResult(arrived, acknowledged: acknowledged)
        let isLimited = limitedRegion.startTime != nil
        let before = delayBased.estimate
        let result = delayBased.receive(
            arrived, acknowledged: carried, probe: probe, isApplicationLimited: isLimited,
            hasQueue: hasQueue(now: now), now: now)
        lowerToArrivals(now: now)
        if result.isProbe, let estimate = result.estimate { sendSide.setMeasured(estimate) }
        updateCompetition(results, roundTrip: arrived.last.map { now - $0.sent }, estimateBefore: before, now: now)
        if let estimate = delayBased.estimate { sendSide.setDelayLimit(max(estimate, competing.rate ?? .zero)) }
        sendSide.receive(
            results, acknowledged: acknowledged, isApplicationLimited: isLimited,
            background: background.share)
        updateBackgroundLoss(now: now)
        update(now: now)
        if let before = estimateBeforeBackoff, !sendSide.isBackingOff {
            estimateBeforeBackoff = nil
            add(probeController.probe(at: before, now: now))
        }
        if result.hasRecovered {
            updateLimitedRegion(now: now)
            add(probeController.requestRecoveryProbe(now: now))
        }
    }

    /// Takes a receiver report on one of the streams.
    ///
    /// Where transport-wide feedback comes it says more, and reports only tell ``fractionLost``.
    ///
    /// - Parameters:
    ///   - report: what it says.
    ///   - packets: how many packets of the stream it stands for: those since the report before.
    ///   - now: when it came in.
    package mutating func receive(_ report: LossReport, packets: Int, now: Instant) {
        lastActivity = now
        guard sendSide.receive(fractionLost: report.fractionLost, packets: packets, now: now) else { return }
        update(now: now)
    }

    /// Where packets wait less than this, none are lost for want of room.
    private static let emptyingDelay = Duration.milliseconds(60)

    /// Whether packets waited of late: the delay of a path without a queue grows and shrinks by itself.
    private func hasQueue(now: Instant) -> Bool {
        guard deviations.contains(.queueCut) else { return true }
        return queueing.highest(since: now.advanced(by: .milliseconds(-300))).map { $0.delay >= QueueingDelay.jitter }
            ?? true
    }

    /// Takes note of the loss of a time in which nothing waited on the path.
    private mutating func updateBackgroundLoss(now: Instant) {
        guard deviations.contains(.backgroundLoss) else { return }
        background.expire(now: now)
        guard sendSide.lossBased.isReady, !competing.isActive,
            let highest = queueing.highest(since: now.advanced(by: .seconds(-1))),
            highest.delay < Self.emptyingDelay
        else { return }
        background.receive(sendSide.lossBased.averageLoss, now: now)
    }

    /// Tells queues that others make from one's own: bursts, and flows that fill the queue whatever the delay.
    private mutating func updateCompetition(
        _ results: [TransportFeedbackTracker.PacketResult], roundTrip: Duration?, estimateBefore: DataRate?,
        now: Instant
    ) {
        guard let roundTrip, let estimateBefore, let estimate = delayBased.estimate else { return }
        if estimate < estimateBefore {
            competing.didCut(now: now)
            if deviations.contains(.foreignBurst) { burst.didCut(from: estimateBefore, now: now) }
        }
        switch burst.finding(estimate: estimate, queueing: queueing, now: now) {
        case .foreign(let rate): delayBased.restore(rate, now: now)
        case .unclear(let rate): add(probeController.probe(at: rate, now: now))
        case nil: break
        }
        guard deviations.contains(.competingRate) else { return }
        let wasActive = competing.isActive
        let rate = competing.rate
        competing.receive(
            results, roundTrip: roundTrip, acknowledged: throughput.estimate, queueing: queueing, now: now)
        if wasActive, !competing.isActive, let rate {
            delayBased.restore(rate * AIMDRateControl.backoffFactor, now: now)
        }
    }

    /// Whether more is under way than the window holds, because the path does not carry it: packets wait, or feedback does.
    /// A large picture that is let out fast is under way, too, and arrives as fast.
    func isWindowExceeded(now: Instant) -> Bool {
        guard deviations.contains(.window), !competing.isActive, window.isExceeded(by: outstanding.bytes) else {
            return false
        }
        if let latest = queueing.newest, latest.delay >= Self.emptyingDelay { return true }
        return waitingTime > window.patience
    }

    /// Where more is under way than the window holds, the path carries what arrives, and what is sent is to be less.
    private mutating func lowerToArrivals(now: Instant) {
        guard deviations.contains(.arrivalsBound), isWindowExceeded(now: now), let recent = recentArrivals.rate,
            delayBased.estimate.map({ recent < $0 }) ?? false
        else { return }
        delayBased.lower(to: recent * AIMDRateControl.backoffFactor, now: now)
    }

    /// Passes on where the application began or ceased to be the limit.
    mutating func updateLimitedRegion(now: Instant) {
        let start = limitedRegion.startTime
        if start == nil, probeController.limitedRegionStart != nil {
            probeController.limitedRegionEnd = now
        }
        probeController.limitedRegionStart = start
    }

    /// What the probes measured that arrived.
    private mutating func probeResult(
        _ arrived: [TransportFeedbackTracker.PacketResult], acknowledged: DataRate?
    ) -> DataRate? {
        for result in arrived {
            guard let arrival = result.arrival, let cluster = outstanding.cluster(of: result.number) else { continue }
            probeEstimator.receive(sent: result.sent, arrival: arrival, size: result.size, of: cluster)
        }
        guard let rate = probeEstimator.takeEstimate() else { return nil }
        // A few packets that were held up do not disprove what arrives all the time.
        guard let acknowledged, let estimate = delayBased.estimate else { return rate }
        return max(rate, min(estimate, acknowledged * AIMDRateControl.backoffFactor))
    }

    /// The packets that arrived, in that order: nearly always all of them, as they come.
    private static func arrived(
        _ results: [TransportFeedbackTracker.PacketResult]
    ) -> [TransportFeedbackTracker.PacketResult] {
        let isWhole = results.allSatisfy { $0.arrival != nil }
        let arrived = isWhole ? results : results.filter { $0.arrival != nil }
        return arrived.isSorted(by: arrivesEarlier) ? arrived : arrived.sorted(by: arrivesEarlier)
    }

    private static func arrivesEarlier(
        _ left: TransportFeedbackTracker.PacketResult, _ right: TransportFeedbackTracker.PacketResult
    ) -> Bool {
        let arrivals = (left.arrival ?? .zero, right.arrival ?? .zero)
        if arrivals.0 != arrivals.1 { return arrivals.0 < arrivals.1 }
        if left.sent != right.sent { return left.sent < right.sent }
        return right.number.isNewer(than: left.number)
    }
}

extension Array {
    /// Whether sorting would change nothing.
    func isSorted(by areInIncreasingOrder: (Element, Element) -> Bool) -> Bool {
        var index = 1
        while index < count {
            if areInIncreasingOrder(self[index], self[index - 1]) { return false }
            index += 1
        }
        return true
    }
}
