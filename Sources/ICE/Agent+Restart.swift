import RTCShareSTUN
package import RTCShareWireFormat

/// ICE restarts (RFC 8445 §9, RFC 8839 §4.4.1.1.1): new credentials, and checks from the start, while the previously
/// selected pair still carries media.
///
/// ```
///   offerRestart ──▶ requests with the offered credentials are answered and stored
///        │ withdrawRestart: stored requests are removed
///        ▼
///   restart, setRemote ──▶ the old pair is retired: it carries media, checks consent and answers requests
///        │ a pair of the new generation is nominated, or works after the old one has stopped answering
///        ▼
///   selected ──▶ the peer can use the old pair for as long as consent lasts
/// ```
extension Agent {
    /// A time without a pair that can carry media.
    struct Outage: Sendable {
        /// The time at which the agent fails if there is still no pair.
        let ends: Instant
        var isReported = false
    }

    /// Sets the credentials that our description offers for a restart. Requests with them can arrive before the peer's
    /// description. They are answered immediately and processed after ``restart(credentials:now:)``.
    package mutating func offerRestart(credentials: Credentials) {
        guard isActive, remoteCredentials != nil else { return }
        if self.credentials.offer(credentials) { incoming.forgetEarly() }
    }

    /// Reverts ``offerRestart(credentials:)``, for example after a rollback of the offer.
    package mutating func withdrawRestart() {
        if credentials.offer(nil) { incoming.forgetEarly() }
    }

    /// Restarts with new local credentials. Call ``setRemote(credentials:isLite:now:)`` with the peer's afterward.
    ///
    /// The role and the bases stay. The servers receive new requests for our mapped addresses, unless
    /// ``gatherAgain(now:)`` has sent them for this restart. The caller must add the peer's candidates again. The
    /// selected pair stays selected, with its own credentials, until a pair of the new generation replaces it, at most
    /// for as long as the peer consents.
    package mutating func restart(credentials: Credentials, now: Instant) {
        guard isActive, remoteCredentials != nil else { return }
        let kept = checklist.selectedIndex.map { checklist.pairs[$0].generation }
        if credentials != self.credentials.offered { incoming.forgetEarly() }
        self.credentials.restart(credentials, after: checklist.generation, selected: kept)
        isRestarting = true
        checklist.restart()
        remotes.restart()
        statistics.remoteCandidatesIgnored = 0
        statistics.remoteNamesUnresolved = 0
        locals.removePeerReflexive()
        transactions.removeChecks()
        if kept == nil { setState(.checking) }
        if !isGatheredAgain { gatherAgain(now: now) }
        isGatheredAgain = false
    }

    /// Removes a closed socket with its candidates and pairs. If it removes the selected pair, another working pair
    /// replaces it. If there is none, the agent emits ``AgentEvent/restartNeeded`` and checks all pairs once more.
    package mutating func removeLocalHost(_ base: TransportAddress, now: Instant) {
        guard isActive, locals.socket(at: base) != nil else { return }
        var gone = [BaseAddress(base)]
        gone += locals.bases.filter { $0.route == .active(base) }.map(\.id)
        gone += asked.abandon(base).map { BaseAddress($0) }
        loseBases(gone, as: .unreachable, now: now)
        // Another socket of the address can open the connections instead.
        addActiveBases()
        advance(now: now)
    }

    /// Removes bases, with their candidates and their pending transactions. If this removes the selected pair, another
    /// working pair replaces it. If there is none, all pairs are checked once more.
    mutating func loseBases(_ gone: [BaseAddress], as fate: PairFate, now: Instant) {
        locals.remove(gone)
        incoming.forgetEarly(to: gone)
        transactions.remove(from: gone)
        for index in checklist.pairs.indices where gone.contains(checklist.pairs[index].base) {
            checklist.fail(index, as: fate)
            checklist.pairs[index].isNominated = false
        }
        guard let index = checklist.selectedIndex, gone.contains(checklist.pairs[index].base) else { return }
        replaceSelected(index, now: now)
    }

    /// Replaces the selected pair, on which nothing can be sent any more. If no other pair works, all are checked once
    /// more.
    mutating func replaceSelected(_ index: Int, now: Instant) {
        for other in checklist.pairs.indices where checklist.isCurrent(other) && other != index {
            guard locals.hasBase(at: checklist.pairs[other].base) else { continue }
            // A pair that answered recently is used immediately, and is also checked.
            if checklist.pairs[other].state == .succeeded {
                checklist.confirm(other)
            } else if checklist.pairs[other].state != .inProgress, !checklist.pairs[other].hasLostConsent {
                checklist.trigger(other)
            }
        }
        loseSelected(consentUntil: max(now, consentExpiry(of: checklist.pairs[index])), isGone: true, now: now)
    }

    /// Whether there is no pair left to send on, and no restart in progress that could find one.
    package var needsRestart: Bool { isActive && outage != nil && !isRestarting }

    /// The maximum number of the peer's candidates.
    package var maximumRemoteCandidates: Int { limits.remoteCandidates }

    /// Returns the pairs of the newest generation on which the peer still consents to receive.
    func usablePairs(now: Instant) -> [Int] {
        checklist.pairs.indices.filter { index in
            checklist.isCurrent(index) && checklist.pairs[index].state == .succeeded
                && consentExpiry(of: checklist.pairs[index]) > now
        }
    }

    /// Returns our credentials and the peer's for a pair.
    func credentials(of index: Int) -> (local: Credentials, remote: Credentials)? {
        credentials.of(generation: checklist.pairs[index].generation, newest: checklist.generation)
    }

    /// Records a request on the pair that a restart will replace or has replaced: the peer still uses it.
    mutating func recordRetired(from source: TransportAddress, to base: BaseAddress, now: Instant) {
        let index = checklist.pairs.indices.first { index in
            !checklist.isCurrent(index) && checklist.pairs[index].base == base
                && checklist.pairs[index].remote.address == source
        }
        guard let index else { return }
        checklist.pairs[index].statistics.requestsReceived += 1
        checklist.pairs[index].statistics.responsesSent += 1
        checklist.pairs[index].latestRequest = now
    }

    /// Deselects the selected pair, and reports an outage unless another pair works. The peer's consent expires at
    /// `consentUntil`.
    mutating func loseSelected(consentUntil: Instant, isGone: Bool, now: Instant) {
        checklist.selected = nil
        consent.stop()
        reselect(now: now)
        guard checklist.selected == nil else { return }
        let mayRestart = isRestarting && checklist.checkingSince.map { now - $0 < timing.connectivityLimit } ?? true
        guard isGone || mayRestart || timing.restartPatience > .zero else { return stop(.failed, now: now) }
        outage = outage ?? Outage(ends: consentUntil.advanced(by: timing.restartPatience))
        setState(mayRestart ? .checking : .disconnected)
        guard !mayRestart else { return }
        isRestarting = false
        reportOutage()
    }

    /// Waits for a restart, since no pair of the newest generation works.
    mutating func giveUp(now: Instant) {
        guard let outage, now < outage.ends else { return stop(.failed, now: now) }
        isRestarting = false
        setState(.disconnected)
        reportOutage()
    }

    mutating func reportOutage() {
        guard outage?.isReported == false else { return }
        outage?.isReported = true
        emit(.restartNeeded)
    }

    /// Ends a restart or an outage: removes the replaced pair, or stops the agent if no pair was found in time.
    mutating func settleRestart(now: Instant) {
        if checklist.selected != nil {
            outage = nil
            if !checklist.isSelectedRetired {
                isRestarting = false
                checklist.removeFormer()
                credentials.expireRetired(after: timing.consentExpiry, now: now)
            }
        } else if state == .disconnected, let outage, outage.ends <= now {
            stop(.failed, now: now)
        }
    }

    /// The time at which an outage has lasted too long.
    var outageDeadline: Instant? { state == .disconnected && checklist.selected == nil ? outage?.ends : nil }
}
