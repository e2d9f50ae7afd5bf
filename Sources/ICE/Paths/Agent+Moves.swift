import RTCShareWireFormat

extension Agent {
    /// Follows a peer whose address has changed, for example because of an expired NAT binding: its authentic checks
    /// come from a new address while the selected pair does not answer.
    ///
    /// If a check arrives on another pair and the selected pair has not answered since, the selected pair is checked
    /// immediately. Requests on it are not a sign of life: they also arrive if only our own packets are lost. If two such
    /// checks fail and the new pair answers, media moves to the new pair. The controlling agent nominates the new pair.
    /// The controlled agent does not wait for a nomination: the peer sees no change, so that it never nominates. (RFC
    /// 8445 has no rule for this; RFC 7675 consent exists on the new pair.) An attacker without the password cannot cause
    /// a move, and nobody can while the selected pair answers.
    mutating func considerMove(now: Instant) {
        guard let current = checklist.selectedIndex, checklist.pairs[current].isNominated, checklist.isCurrent(current),
            let heard = checklist.pairs[current].latestResponse,
            let rival = checklist.pairs.indices
                .filter({ $0 != current && checklist.pairs[$0].latestRequest.map { $0 > heard } ?? false })
                .max(by: { (checklist.pairs[$0].latestRequest ?? heard) < (checklist.pairs[$1].latestRequest ?? heard) }
                )
        else { return }
        guard consent.unanswered >= Self.missesBeforeMove else {
            // The interval limits consent checks, however many checks arrive on other pairs.
            if consent.unanswered == 0, now - heard >= timing.consentRetry { consent.hasten(to: now) }
            return
        }
        guard checklist.pairs[rival].state == .succeeded,
            checklist.pairs[rival].latestResponse.map({ $0 > heard }) ?? false
        else {
            if checklist.pairs[rival].state == .succeeded { checklist.trigger(rival) }
            return
        }
        switch role {
        case .controlling:
            guard checklist.nominating == nil else { return }
            checklist.nominate(rival)
        case .controlled:
            checklist.pairs[current].isNominated = false
            // The peer may go on nominating a pair on which its requests arrive, and our answers don't.
            checklist.pairs[current].state = .failed
            checklist.pairs[rival].isNominated = true
            select(rival, now: now)
        }
    }

    /// The number of unanswered consent checks on the selected pair before media moves.
    private static let missesBeforeMove = 2
}
