package import RTCShareRTP
package import RTCShareWireFormat

extension BandwidthEstimator {
    /// Records a sent packet. Call it for every packet, with a transport-wide number or not.
    ///
    /// - Parameters:
    /// - number: The packet's transport-wide number; nil if it has none.
    /// - size: The packet's size in bytes, counted in the same way for all.
    /// - cluster: The identifier of the packet's probe; nil for none.
    /// - now: The time of sending.
    package mutating func packetSent(number: TransportSequenceNumber?, size: Int, cluster: Int?, now: Instant) {
        let size = min(max(0, size), 1 << 20)
        outstanding.packetSent(number, size: size, cluster: cluster, now: now)
        lastActivity = now
        limitedRegion.packetSent(bytes: size, now: now)
        updateLimitedRegion(now: now)
    }

    /// Processes the results of transport-wide feedback for arrived and lost packets.
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
        // Packets of background loss would have arrived otherwise, and do not show that the rate is too high.
        let kept = 1 / (1 - background.share)
        let acknowledged = throughput.estimate.map { $0 * kept }
        // After little traffic, a burst arrives faster than the average over a second, and shows the path's capacity.
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

    /// Processes the loss of one of the streams since its previous sample, according to a receiver report or a request.
    ///
    /// If there is transport-wide feedback, which contains more, it only determines ``fractionLost``.
    package mutating func receive(_ sample: LossSample, now: Instant) {
        lastActivity = now
        guard sendSide.receive(sample, now: now) else { return }
        update(now: now)
    }

    /// The queueing delay below which loss is not caused by a full queue.
    private static let emptyingDelay = Duration.milliseconds(60)

    /// Whether packets recently waited in a queue: the delay of a path without a queue also fluctuates.
    private func hasQueue(now: Instant) -> Bool {
        guard deviations.contains(.queueCut) else { return true }
        return queueing.highest(since: now.advanced(by: .milliseconds(-300))).map { $0.delay >= QueueingDelay.jitter }
            ?? true
    }

    /// Records the loss of a period without a queue on the path.
    private mutating func updateBackgroundLoss(now: Instant) {
        guard deviations.contains(.backgroundLoss) else { return }
        background.expire(now: now)
        guard sendSide.lossBased.isReady, !competing.isActive,
            let highest = queueing.highest(since: now.advanced(by: .seconds(-1))),
            highest.delay < Self.emptyingDelay
        else { return }
        background.receive(sendSide.lossBased.averageLoss, now: now)
    }

    /// Distinguishes queues of competing traffic from our own: bursts, and flows that fill the queue whatever the
    /// delay.
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

    /// Whether more bytes are in flight than the window allows because the path does not carry them: packets or
    /// feedback are delayed. The bytes of a large frame that is sent fast are also in flight, but arrive as fast.
    func isWindowExceeded(now: Instant) -> Bool {
        guard deviations.contains(.window), !competing.isActive, window.isExceeded(by: outstanding.bytes) else {
            return false
        }
        if let latest = queueing.newest, latest.delay >= Self.emptyingDelay { return true }
        return waitingTime > window.patience
    }

    /// Lowers the estimate to the arrival rate if more bytes are in flight than the window allows.
    private mutating func lowerToArrivals(now: Instant) {
        guard deviations.contains(.arrivalsBound), isWindowExceeded(now: now), let recent = recentArrivals.rate,
            delayBased.estimate.map({ recent < $0 }) ?? false
        else { return }
        delayBased.lower(to: recent * AIMDRateControl.backoffFactor, now: now)
    }

    /// Forwards starts and ends of application-limited regions.
    mutating func updateLimitedRegion(now: Instant) {
        let start = limitedRegion.startTime
        if start == nil, probeController.limitedRegionStart != nil {
            probeController.limitedRegionEnd = now
        }
        probeController.limitedRegionStart = start
    }

    /// Returns the rate that the arrived probes measured.
    private mutating func probeResult(
        _ arrived: [TransportFeedbackTracker.PacketResult], acknowledged: DataRate?
    ) -> DataRate? {
        for result in arrived {
            guard let arrival = result.arrival, let cluster = outstanding.cluster(of: result.number) else { continue }
            probeEstimator.receive(sent: result.sent, arrival: arrival, size: result.size, of: cluster)
        }
        guard let rate = probeEstimator.takeEstimate() else { return nil }
        // A few delayed packets do not disprove the rate that arrives all the time.
        guard let acknowledged, let estimate = delayBased.estimate else { return rate }
        return max(rate, min(estimate, acknowledged * AIMDRateControl.backoffFactor))
    }

    /// Returns the packets that arrived, in order of arrival: usually all of them without a change.
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
    /// Whether the array is already sorted.
    func isSorted(by areInIncreasingOrder: (Element, Element) -> Bool) -> Bool {
        var index = 1
        while index < count {
            if areInIncreasingOrder(self[index], self[index - 1]) { return false }
            index += 1
        }
        return true
    }
}
