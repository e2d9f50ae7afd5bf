import RTCShareWireFormat

extension Agent {
    /// Follows a peer whose address has changed, as when a translator forgot it: its authentic checks come from a new
    /// address while the selected pair is silent.
    ///
    /// A check from elsewhere than the selected pair, since the peer was last heard there, has that pair asked at once
    /// whether it still works. Where it does not answer twice, and the new pair answers, media moves there. The
    /// controlling agent nominates the new pair. The controlled one does not wait for that: as the peer sees it, nothing
    /// has changed, so that it never nominates (RFC 8445 has no rule for this; consent, RFC 7675, is had on the new pair).
    /// Nobody without the password can bring this about, and nobody at all while the selected pair answers.
    mutating func considerMove(now: Instant) {
        guard let current = checklist.selectedIndex, checklist.pairs[current].isNominated, checklist.isCurrent(current),
            let heard = checklist.pairs[current].latestSign,
            let rival = checklist.pairs.indices
                .filter({ $0 != current && checklist.pairs[$0].latestRequest.map { $0 > heard } ?? false })
                .max(by: { (checklist.pairs[$0].latestRequest ?? heard) < (checklist.pairs[$1].latestRequest ?? heard) }
                )
        else { return }
        guard consent.unanswered >= Self.missesBeforeMove else {
            // Asked at most this often, however many checks come from elsewhere.
            if consent.unanswered == 0, now - heard >= timing.consentRetry { consent.hasten(now: now) }
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
            checklist.pairs[rival].isNominated = true
            select(rival, now: now)
        }
    }

    /// How many consent checks the selected pair leaves unanswered before media moves.
    private static let missesBeforeMove = 2
}

extension CandidatePair {
    /// When the peer was last heard on the pair.
    var latestSign: Instant? {
        switch (latestRequest, latestResponse) {
        case (let request?, let response?): max(request, response)
        case (let request, let response): request ?? response
        }
    }
}
