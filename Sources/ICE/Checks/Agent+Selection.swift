package import RTCShareWireFormat

extension Agent {
    /// Selects a nominated pair whose check has succeeded.
    mutating func nominate(_ index: Int, now: Instant) {
        let pair = checklist.pairs[index]
        checklist.endNomination(of: index)
        // Browsers nominate the selected pair again with each of their checks.
        if pair.isNominated, pair.id == checklist.selected { return }
        guard checklist.isCurrent(index) else { return }
        if let current = checklist.selectedIndex, checklist.isCurrent(current), checklist.pairs[current].isNominated,
            checklist.pairs[current].id != pair.id
        {
            guard role == .controlling || isOutranked(checklist.pairs[current], by: pair, now: now) else { return }
            checklist.pairs[current].isNominated = false
        }
        checklist.pairs[index].isNominated = true
        let isNew = pair.id != checklist.selected
        select(index, now: now)
        if !isNew, selectedRoundTripTime == nil { startConsent(now: now) }
    }

    /// Whether a controlled agent replaces one nominated pair with another: usually it follows the newest. If a peer
    /// nominates all pairs at once, as in RFC 5245, it follows the best.
    private func isOutranked(_ current: CandidatePair, by other: CandidatePair, now: Instant) -> Bool {
        if other.priority > current.priority || !current.latestRequestNominates { return true }
        let silence = current.latestRequest.map { now - $0 } ?? timing.consentInterval
        return silence >= timing.consentInterval / 2
    }

    /// Selects the best working pair as long as no pair is nominated (RFC 8445 §12.1.1).
    mutating func reselect(now: Instant) {
        if checklist.isConcluded { return }
        // The pair from before a restart carries media until nomination, as long as it answers.
        if checklist.isSelectedRetired, state == .connected { return }
        guard let best = usablePairs(now: now).max(by: { checklist.pairs[$0].priority < checklist.pairs[$1].priority })
        else { return }
        if checklist.pairs[best].id != checklist.selected { select(best, now: now) }
    }

    mutating func select(_ index: Int, now: Instant) {
        let id = checklist.pairs[index].id
        let isNew = checklist.selected != id
        checklist.selected = id
        if isNew { startConsent(now: now) }
        if let pair = selectedPair { emit(.selectedPair(pair)) }
        if isNew { setState(.connected) }
    }

    /// Nominates a pair as the controlling agent: immediately if no better pair can still succeed, otherwise after a
    /// short wait. A selected pair that has stopped answering is replaced by one that answers.
    mutating func considerNomination(now: Instant) {
        guard role == .controlling, checklist.nominating == nil, let best = pairToNominate() else { return }
        guard nominationOpens(best) <= now else { return }
        checklist.nominate(best)
    }

    private func pairToNominate() -> Int? {
        guard state == .disconnected || !checklist.isConcluded else { return nil }
        let candidates = checklist.pairs.indices.filter { index in
            guard checklist.pairs[index].state == .succeeded, checklist.isCurrent(index) else { return false }
            return state != .disconnected || checklist.pairs[index].id != checklist.selected
        }
        return candidates.max { checklist.pairs[$0].priority < checklist.pairs[$1].priority }
    }

    private func nominationOpens(_ best: Int) -> Instant {
        let start = checklist.firstValid ?? .distantFuture
        let isBest = !checklist.pairs.contains { $0.isOpen && $0.priority > checklist.pairs[best].priority }
        let pair = checklist.pairs[best]
        // A relay or TCP would carry the whole call, and future candidates can make a better pair.
        let isPoor = pair.local.type == .relayed || pair.remote.type == .relayed || pair.remote.tcpType != nil
        let areAllKnown = remotes.haveEnded && asked.limit == nil
        if isBest, areAllKnown || !isPoor { return start }
        return start.advanced(by: isPoor ? timing.poorNominationSettle : timing.nominationSettle)
    }

    var nominationDeadline: Instant? {
        guard role == .controlling, checklist.nominating == nil else { return nil }
        return pairToNominate().map(nominationOpens)
    }

    // Consent (RFC 7675).

    private mutating func startConsent(now: Instant) {
        let pause = timing.consentInterval * Double.random(in: 0.8...1.2, using: &generator)
        // The answer to a consent check shows the round-trip time, which those to repeated checks did not.
        let isDue = selectedRoundTripTime == nil && selectedPair?.isNominated == true
        consent.start(due: isDue ? now : now.advanced(by: pause))
    }

    mutating func consentAnswered(now: Instant) {
        startConsent(now: now)
        if state == .disconnected { setState(.connected) }
    }

    /// Sends a consent check as soon as the last answer is not recent, for an owner that must learn soon whether the
    /// peer is reachable. A peer that answers receives at most one such check per second.
    package mutating func checkConsent(now: Instant) {
        guard state == .connected, consent.unanswered == 0, let index = checklist.selectedIndex,
            let answered = checklist.pairs[index].latestResponse
        else { return }
        consent.hasten(to: max(now, answered.advanced(by: timing.consentInterval / 5)))
        advance(now: now)
    }

    /// Adds a time in which this machine was suspended, and the clock of all instants stood still, to the age of the
    /// peer's answers. Consent may have expired in that time.
    package mutating func wasSuspended(for time: Duration, now: Instant) {
        guard isActive else { return }
        for index in checklist.pairs.indices {
            checklist.pairs[index].latestResponse = checklist.pairs[index].latestResponse?.advanced(by: .zero - time)
        }
        checkConsent(now: now)
        advance(now: now)
    }

    var consentDeadline: Instant? {
        guard let index = checklist.selectedIndex, let due = consent.due else { return nil }
        return min(due, consentExpiry(of: checklist.pairs[index]))
    }

    func consentExpiry(of pair: CandidatePair) -> Instant {
        pair.latestResponse?.advanced(by: timing.consentExpiry) ?? .distantFuture
    }

    mutating func advanceConsent(now: Instant) {
        guard let index = checklist.selectedIndex else { return }
        if consentExpiry(of: checklist.pairs[index]) <= now {
            checklist.pairs[index].state = .failed
            checklist.pairs[index].hasLostConsent = true
            checklist.pairs[index].isNominated = false
            loseSelected(consentUntil: now, isGone: false, now: now)
            return
        }
        guard let due = consent.due, due <= now else { return }
        if consent.unanswered >= timing.consentMisses, state == .connected {
            disconnect()
            verifyRelay(of: checklist.pairs[index].base, now: now)
        }
        sendConsentCheck(index, now: now)
        let roundTrip = min(selectedRoundTripTime ?? selectedRoundTripBound ?? .zero, .seconds(1))
        let pause = state == .disconnected ? timing.consentInterval / 5 : max(timing.consentRetry, roundTrip * 2)
        consent.asked(again: now.advanced(by: pause))
    }

    /// Marks the selected pair as disconnected. All other pairs are checked once more, since another route can work.
    mutating func disconnect() {
        guard state == .connected else { return }
        setState(.disconnected)
        checklist.cancelNomination()
        for other in checklist.pairs.indices
        where checklist.pairs[other].id != checklist.selected && checklist.pairs[other].state != .inProgress {
            guard locals.hasBase(at: checklist.pairs[other].base) else { continue }
            checklist.trigger(other)
        }
    }

    /// Fails if no pair can work. A peer without usable candidates can still send checks itself, so that only the
    /// overall limit ends the wait for it (RFC 8863).
    mutating func concludeFailure(now: Instant) {
        guard state == .checking, let since = checklist.checkingSince else { return }
        let patience = now - since
        let mayComeForward = statistics.remoteCandidatesIgnored + statistics.remoteNamesUnresolved > 0
        let isExhausted =
            remotes.haveEnded && asked.limit == nil && !mayComeForward && checklist.triggered.isEmpty
            && !checklist.pairs.isEmpty
            && checklist.pairs.allSatisfy { $0.state == .failed } && patience >= timing.connectivityLimit / 2
        if patience >= timing.connectivityLimit || isExhausted { giveUp(now: now) }
    }
}
