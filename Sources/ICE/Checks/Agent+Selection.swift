package import RTCShareWireFormat

extension Agent {
    /// A pair that the controlling agent, we or the peer, has chosen and that a check has shown to work.
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
        select(index, now: now)
    }

    /// Which of two nominated pairs a controlled agent follows: as a rule the newest. A peer that nominates every pair
    /// at once, as RFC 5245 let it, means the best of those.
    private func isOutranked(_ current: CandidatePair, by other: CandidatePair, now: Instant) -> Bool {
        if other.priority > current.priority || !current.latestRequestNominates { return true }
        let silence = current.latestRequest.map { now - $0 } ?? timing.consentInterval
        return silence >= timing.consentInterval / 2
    }

    /// Until there is a nomination, media goes over the best pair that works (RFC 8445 §12.1.1).
    mutating func reselect(now: Instant) {
        if checklist.isConcluded { return }
        // The pair from before a restart carries media until the choice is made, as long as it answers.
        if checklist.isSelectedRetired, state == .connected { return }
        guard let best = usablePairs(now: now).max(by: { checklist.pairs[$0].priority < checklist.pairs[$1].priority })
        else { return }
        if checklist.pairs[best].id != checklist.selected { select(best, now: now) }
    }

    mutating func select(_ index: Int, now: Instant) {
        let id = checklist.pairs[index].id
        let isNew = checklist.selected != id
        checklist.selected = id
        if isNew {
            consent.start(due: now.advanced(by: consentPause()))
        }
        if let pair = selectedPair { emit(.selectedPair(pair)) }
        if isNew { setState(.connected) }
    }

    /// The controlling agent's choice: at once if no better pair can still succeed, else after a short while. A selected
    /// pair that has stopped answering is replaced by one that answers.
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
        let isRelayed = pair.local.type == .relayed || pair.remote.type == .relayed
        // A relay is for the whole call: candidates that are still to come may make a better pair.
        let areAllKnown = remotes.haveEnded && asked.limit == nil
        if isBest, areAllKnown || !isRelayed { return start }
        return start.advanced(by: isRelayed ? timing.relayedNominationSettle : timing.nominationSettle)
    }

    var nominationDeadline: Instant? {
        guard role == .controlling, checklist.nominating == nil else { return nil }
        return pairToNominate().map(nominationOpens)
    }

    // Consent (RFC 7675).

    private mutating func consentPause() -> Duration {
        timing.consentInterval * Double.random(in: 0.8...1.2, using: &generator)
    }

    mutating func consentAnswered(now: Instant) {
        consent.start(due: now.advanced(by: consentPause()))
        if state == .disconnected { setState(.connected) }
    }

    /// Asks the peer now whether it still consents, where it has not said so for a while: for an owner who needs to know
    /// soon whether the peer is there. A peer that answers is asked no more than once a second.
    package mutating func checkConsent(now: Instant) {
        guard state == .connected, consent.unanswered == 0, let index = checklist.selectedIndex,
            let answered = checklist.pairs[index].latestResponse, now - answered >= timing.consentInterval / 5
        else { return }
        consent.hasten(now: now)
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
        let roundTrip = min(checklist.pairs[index].statistics.currentRoundTripTime ?? .zero, .seconds(1))
        let pause = state == .disconnected ? timing.consentInterval / 5 : max(timing.consentRetry, roundTrip * 2)
        consent.asked(again: now.advanced(by: pause))
    }

    /// The selected pair does not carry any more. Another way may still be open: everything is tried once more.
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

    /// Gives up where nothing works. A peer that announced nothing usable may still come forward by itself, so that
    /// only the overall limit ends the wait for it (RFC 8863).
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
