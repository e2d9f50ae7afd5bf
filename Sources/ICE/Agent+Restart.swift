import RTCShareSTUN
package import RTCShareWireFormat

/// ICE restarts (RFC 8445 §9, RFC 8839 §4.4.1.1.1): other credentials, and checks from the start, while media stays on
/// the pair that was selected before.
///
/// ```
///   offerRestart ──▶ requests under the offered credentials are answered and remembered
///        │ withdrawRestart: forgotten
///        ▼
///   restart, setRemote ──▶ the old pair is retired: it carries media, asks for consent and answers
///        │ a pair of the new generation is nominated, or works where the old one has stopped answering
///        ▼
///   selected ──▶ the peer may use the old pair for as long as consent lasts
/// ```
extension Agent {
    /// What there is no pair to send on for.
    struct Outage: Sendable {
        /// When the agent fails where nothing has helped.
        let ends: Instant
        var isReported = false
    }

    /// Says which credentials our description offers for a restart. Requests under them may come before the peer's
    /// description: they are answered, and acted on after ``restart(credentials:now:)``.
    package mutating func offerRestart(credentials: Credentials) {
        guard isActive, remoteCredentials != nil else { return }
        if self.credentials.offer(credentials) { incoming.forgetEarly() }
    }

    /// Takes back ``offerRestart(credentials:)``, as where the offer was rolled back.
    package mutating func withdrawRestart() {
        if credentials.offer(nil) { incoming.forgetEarly() }
    }

    /// Begins anew under other credentials of ours; ``setRemote(credentials:isLite:now:)`` with the peer's is to follow.
    ///
    /// The role and the bases stay. Servers are asked again what the bases look like from outside, unless
    /// ``gatherAgain(now:)`` did so for this restart. The peer's candidates are to be added again. The selected pair stays
    /// selected, under the credentials that it has, until a pair of this generation takes over; where none does, for as
    /// long as the peer consents.
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

    /// Takes a socket away that is gone: its candidates and pairs go with it. Where the selected pair was its, another
    /// that works takes over; where there is none, ``AgentEvent/restartNeeded`` says so, and all are tried once more.
    package mutating func removeLocalHost(_ base: TransportAddress, now: Instant) {
        guard isActive, locals.socket(at: base) != nil else { return }
        var gone = [base]
        gone += locals.bases.filter { $0.route == .stream(base) }.map(\.address)
        gone += asked.abandon(base)
        loseBases(gone, as: .unreachable, now: now)
        // Another socket of the address may open connections in its stead.
        addStreams()
        advance(now: now)
    }

    /// Takes bases away, with what was found and is under way through them. Where the selected pair was of one, another
    /// that works takes over; where there is none, all are tried once more.
    mutating func loseBases(_ gone: [TransportAddress], as fate: PairFate, now: Instant) {
        locals.remove(gone)
        incoming.forgetEarly(to: gone)
        transactions.remove(from: gone)
        for index in checklist.pairs.indices where gone.contains(checklist.pairs[index].base) {
            checklist.fail(index, as: fate)
            checklist.pairs[index].isNominated = false
        }
        guard let index = checklist.selectedIndex, gone.contains(checklist.pairs[index].base) else { return }
        for other in checklist.pairs.indices
        where checklist.isCurrent(other) && !gone.contains(checklist.pairs[other].base) {
            guard locals.hasBase(at: checklist.pairs[other].base) else { continue }
            // A pair that answered lately is used at once, and is asked again too.
            if checklist.pairs[other].state == .succeeded {
                checklist.confirm(other)
            } else if checklist.pairs[other].state != .inProgress, !checklist.pairs[other].hasLostConsent {
                checklist.trigger(other)
            }
        }
        loseSelected(consentUntil: max(now, consentExpiry(of: checklist.pairs[index])), isGone: true, now: now)
    }

    /// Whether there is no pair to send on any more, and no restart under way that could find one.
    package var needsRestart: Bool { isActive && outage != nil && !isRestarting }

    /// How many of the peer's candidates are remembered.
    package var maximumRemoteCandidates: Int { limits.remoteCandidates }

    /// Pairs of the newest generation that the peer still consents to be sent to on.
    func usablePairs(now: Instant) -> [Int] {
        checklist.pairs.indices.filter { index in
            checklist.isCurrent(index) && checklist.pairs[index].state == .succeeded
                && consentExpiry(of: checklist.pairs[index]) > now
        }
    }

    /// Our own and the peer's credentials for a pair.
    func credentials(of index: Int) -> (local: Credentials, remote: Credentials)? {
        credentials.of(generation: checklist.pairs[index].generation, newest: checklist.generation)
    }

    /// A request on the pair that a restart is to replace, or has replaced: the peer still uses it.
    mutating func recordRetired(from source: TransportAddress, to base: TransportAddress, now: Instant) {
        let index = checklist.pairs.indices.first { index in
            !checklist.isCurrent(index) && checklist.pairs[index].base == base
                && checklist.pairs[index].remote.address == source
        }
        guard let index else { return }
        checklist.pairs[index].statistics.requestsReceived += 1
        checklist.pairs[index].statistics.responsesSent += 1
        checklist.pairs[index].latestRequest = now
    }

    /// There is nothing to send on any more, unless another pair works. The peer's consent holds, or held, until then.
    mutating func loseSelected(consentUntil: Instant, isGone: Bool, now: Instant) {
        checklist.selected = nil
        consent.stop()
        reselect(now: now)
        guard checklist.selected == nil else { return }
        let mayRestart = isRestarting && checklist.checkingSince.map { now - $0 < timing.connectivityLimit } ?? true
        guard isGone || mayRestart || timing.restartPatience > .zero else { return stop(.failed, now: now) }
        outage = outage ?? Outage(ends: consentUntil.advanced(by: timing.restartPatience))
        setState(mayRestart ? .checking : .disconnected)
        if !mayRestart { reportOutage() }
    }

    /// No pair of the newest generation works: what is left is to wait for a restart.
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

    /// Ends what a restart or an outage leaves behind: the pair that was replaced, and the agent where nothing helped.
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

    /// When an outage has lasted too long.
    var outageDeadline: Instant? { state == .disconnected && checklist.selected == nil ? outage?.ends : nil }
}
