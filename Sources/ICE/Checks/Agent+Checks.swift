import RTCShareSTUN
import RTCShareWireFormat

extension Agent {
    var hasCheckToSend: Bool {
        remoteCredentials != nil && (!checklist.triggered.isEmpty || nextOrdinaryPair != nil)
    }

    /// The pair of the next ordinary check. After nomination there is none, unless the nominated pair does not answer any
    /// more: candidates that appear then can lead to another route.
    private var nextOrdinaryPair: Int? {
        checklist.isConcluded && state != .disconnected ? nil : checklist.nextOrdinaryPair()
    }

    /// Sends one check if the pace allows it. Triggered checks come first.
    mutating func sendNextCheck(now: Instant) {
        guard remoteCredentials != nil, checklist.paceOpens.map({ $0 <= now }) ?? true else { return }
        if let (index, nominates) = checklist.takeTriggered() {
            sendCheck(index, nominates: nominates, now: now)
        } else if let index = nextOrdinaryPair {
            sendCheck(index, nominates: false, now: now)
        }
    }

    private mutating func sendCheck(_ index: Int, nominates: Bool, now: Instant) {
        checklist.pace(until: now.advanced(by: timing.pace))
        let priority = peerReflexivePriority(of: checklist.pairs[index].base)
        let id = TransactionID(using: &generator)
        // A check replaces the one before it, which may not have been answered.
        let nominates = nominates || checklist.nominating == checklist.pairs[index].id
        guard let bytes = checkBytes(id, of: index, priority: priority, nominates: nominates) else { return }
        transactions.supersedeChecks(of: checklist.pairs[index].id)
        if checklist.pairs[index].state != .succeeded { checklist.pairs[index].state = .inProgress }
        transactions[id] = Transaction(
            id: id,
            purpose: .check(pair: checklist.pairs[index].id, role: role, nominates: nominates, priority: priority),
            base: checklist.pairs[index].base, destination: checklist.pairs[index].remote.address, bytes: bytes,
            isRepeated: !checklist.pairs[index].remote.transport.isStream, firstTransmission: now,
            latestTransmission: now, limit: now.advanced(by: timing.checkPatience), due: now,
            wait: checkWait(of: index))
        transmit(id, now: now)
    }

    /// Returns the retransmission timeout of a pair's check (RFC 8445 §14.3): a little longer than the pair's
    /// round-trip time, if it is known (RFC 8489 §6.2.1), within the same bounds.
    func checkWait(of index: Int) -> Duration {
        let pair = checklist.pairs[index]
        if pair.remote.transport.isStream { return timing.streamCheckTimeout }
        let bounds = timing.checkRetransmission
        let open = checklist.pairs.count { $0.isOpen && $0.state != .frozen }
        let wait = pair.roundTripBound.map { $0 + max($0 / 8, .milliseconds(15)) } ?? timing.pace * open
        return min(max(wait, bounds.lowerBound), bounds.upperBound)
    }

    mutating func sendConsentCheck(_ index: Int, now: Instant) {
        let id = TransactionID(using: &generator)
        let priority = peerReflexivePriority(of: checklist.pairs[index].base)
        guard let bytes = checkBytes(id, of: index, priority: priority, nominates: false) else { return }
        transactions[id] = Transaction(
            id: id, purpose: .consent(pair: checklist.pairs[index].id, role: role), base: checklist.pairs[index].base,
            destination: checklist.pairs[index].remote.address, bytes: bytes, firstTransmission: now,
            latestTransmission: now, limit: now, due: now, wait: timing.consentExpiry)
        checklist.pairs[index].statistics.consentRequestsSent += 1
        transmit(id, now: now)
    }

    private func checkBytes(_ id: TransactionID, of pair: Int, priority: UInt32, nominates: Bool) -> [UInt8]? {
        guard let (local, remote) = credentials(of: pair) else { return nil }
        let username = "\(remote.usernameFragment):\(local.usernameFragment)"
        var attributes = softwareAttributes
        attributes.append(.username(username))
        attributes.append(.priority(priority))
        attributes.append(role == .controlling ? .iceControlling(tieBreaker) : .iceControlled(tieBreaker))
        if nominates { attributes.append(.useCandidate) }
        return try? STUNMessage(.request, transactionID: id, attributes: attributes)
            .encoded(integrityKey: remote.key)
    }

    /// Returns the priority of a peer-reflexive candidate that the check may reveal (RFC 8445 §7.1.1).
    private func peerReflexivePriority(of base: BaseAddress) -> UInt32 {
        let base = locals.base(at: base)
        guard let base else { return Candidate.priority(type: .peerReflexive, localPreference: 0) }
        return Candidate.priority(
            type: .peerReflexive, over: base.id.transport,
            localPreference: base.tcpType?.localPreference(of: .peerReflexive, base: base) ?? base.localPreference)
    }

    /// Sends a transaction's request and schedules the next transmission (RFC 8489 §6.2.1).
    private mutating func transmit(_ id: TransactionID, now: Instant) {
        guard var transaction = transactions[id] else { return }
        if case .relayBinding = transaction.purpose {
            queue(
                Transmit(
                    base: transaction.base.address, destination: transaction.destination, bytes: transaction.bytes,
                    isForRelay: true))
        } else {
            send(transaction.bytes, from: transaction.base, to: transaction.destination)
        }
        transaction.transmissions += 1
        transaction.latestTransmission = now
        transaction.due = now.advanced(by: transaction.wait)
        switch transaction.purpose {
        case .check(let pair, _, _, _):
            if transaction.reopenings > 0 {
                transaction.isRepeated = false
            } else if transaction.transmissions > 1 {
                transaction.wait = min(transaction.wait * 2, timing.longestCheckRetransmission)
            }
            if let index = checklist.index(pair) {
                checklist.pairs[index].statistics.requestsSent += 1
                if checklist.pairs[index].failure == .unreachable, !transaction.isUnsent {
                    checklist.pairs[index].failure = nil
                }
            }
        case .consent(let pair, _):
            if let index = checklist.index(pair) { checklist.pairs[index].statistics.requestsSent += 1 }
        case .gather:
            transaction.wait *= 2
        case .relayBinding: break
        }
        transactions[id] = transaction
    }

    /// Retransmits unanswered requests, or ends them.
    mutating func expireTransactions(now: Instant) {
        for id in transactions.due(now: now) {
            guard let transaction = transactions[id] else { continue }
            switch transaction.purpose {
            case .gather(let order):
                if transaction.transmissions < timing.gatherTransmissions {
                    transmit(id, now: now)
                } else {
                    transactions[id] = nil
                    finishGather(order, as: transaction.isUnsent ? .unreachable : .noAnswer)
                }
            case .relayBinding where transaction.transmissions == 0: transmit(id, now: now)
            case .consent, .relayBinding:
                transactions[id] = nil
            case .check(let pair, _, let nominates, _):
                // After nomination only the nominating check and triggered checks matter.
                let isIdle = checklist.isConcluded && !nominates && state == .connected
                let isRepeated = transaction.isRepeated && transaction.transmissions != .max
                if now < transaction.limit, isRepeated, !isIdle {
                    transmit(id, now: now)
                } else {
                    transactions[id] = nil
                    guard transaction.transmissions != .max, let index = checklist.index(pair) else { continue }
                    if checklist.pairs[index].state == .inProgress || nominates { checklist.fail(index) }
                }
            }
        }
    }

    /// Switches to the opposite role (RFC 8445 §7.3.1.1). Pair priorities depend on the role, and nominations are void.
    mutating func switchRole() {
        role = role.opposite
        checklist.forgetNominations()
        updatePriorities()
        emit(.roleChanged(role))
    }
}
