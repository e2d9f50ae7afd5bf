import RTCShareSTUN
import RTCShareWireFormat

extension Agent {
    /// Handles a response to one of our requests (RFC 8445 §7.2.5). Returns false, without any change, for any other
    /// message.
    mutating func handleResponse(
        _ message: STUNMessage, from source: TransportAddress, to base: Base, now: Instant
    ) -> Bool {
        guard let transaction = transactions[message.transactionID] else {
            statistics.unexpectedResponses += 1
            return false
        }
        switch transaction.purpose {
        case .gather(let order):
            guard source == transaction.destination, base.id == transaction.base else {
                statistics.unexpectedResponses += 1
                return false
            }
            finishGather(order, transaction, with: message, now: now)
            return true
        case .relayBinding(let index):
            guard source == transaction.destination, base.id == transaction.base else {
                statistics.unexpectedResponses += 1
                return false
            }
            finishBinding(ofRelay: index, transaction, with: message, now: now)
            return true
        case .check(let pair, _, _, _), .consent(let pair, _):
            guard let index = checklist.index(pair) else {
                transactions[transaction.id] = nil
                return true
            }
            guard isAuthentic(message, of: index) else { return false }
            finishCheck(index, transaction, with: message, from: source, to: base, now: now)
            return true
        }
    }

    private mutating func isAuthentic(_ message: STUNMessage, of index: Int) -> Bool {
        guard let key = credentials(of: index)?.remote.key, message.isAuthentic(key: key) else {
            // Anyone can send an error without integrity (RFC 8489 §9.1.4), so that it only serves as an explanation.
            if let error = message.errorCode, checklist.pairs[index].state != .succeeded {
                checklist.pairs[index].failure = .refused(
                    code: error.code, reason: String(error.reason.printable.prefix(64)))
            }
            statistics.unexpectedResponses += 1
            return false
        }
        return true
    }

    private mutating func finishCheck(
        _ index: Int, _ transaction: Transaction, with message: STUNMessage, from source: TransportAddress,
        to base: Base, now: Instant
    ) {
        transactions[transaction.id] = nil
        checklist.pairs[index].statistics.responsesReceived += 1
        guard source == transaction.destination, base.id == transaction.base else {
            checklist.fail(index, as: .answeredFromElsewhere(source))
            return
        }
        if let error = message.errorCode, message.messageClass == .errorResponse {
            handle(error, of: index, transaction, now: now)
            return
        }
        guard message.messageClass == .successResponse, message.unknownRequiredAttributes.isEmpty,
            let mapped = message.mappedAddress
        else {
            checklist.fail(index, as: .refused(code: 0, reason: "a success response without XOR-MAPPED-ADDRESS"))
            return
        }
        checklist.pairs[index].note(
            answerAfter: now - transaction.firstTransmission, isExact: transaction.transmissions == 1)
        if transaction.transmissions == 1 {
            let roundTrip = now - transaction.latestTransmission
            checklist.pairs[index].statistics.currentRoundTripTime = roundTrip
            checklist.pairs[index].statistics.totalRoundTripTime += roundTrip
        }
        checklist.pairs[index].latestResponse = now
        checklist.pairs[index].failure = nil
        switch transaction.purpose {
        case .check(_, let role, let nominates, let priority):
            succeed(index, mapped: mapped, priority: priority, now: now)
            if nominates, role == .controlling, self.role == .controlling {
                nominate(index, now: now)
            }
        case .consent:
            break
        case .gather, .relayBinding:
            return
        }
        if checklist.pairs[index].id == checklist.selected { consentAnswered(now: now) }
    }

    private mutating func handle(_ error: ErrorCode, of index: Int, _ transaction: Transaction, now: Instant) {
        guard error.code == ErrorCode.roleConflict.code else {
            checklist.fail(index, as: .refused(code: error.code, reason: String(error.reason.printable.prefix(64))))
            return
        }
        // RFC 8445 §7.2.5.1. If the role has changed since the request was sent, it does not change back.
        switch transaction.purpose {
        case .check(_, role, _, _), .consent(_, role):
            switchRole()
            tieBreaker = generator.next()
        case .check, .consent, .gather, .relayBinding: break
        }
        if checklist.pairs[index].state != .succeeded { checklist.trigger(index) }
    }

    /// Marks a pair as valid after a successful check, and unfreezes its foundation (RFC 8445 §7.2.5.3).
    private mutating func succeed(_ index: Int, mapped: TransportAddress, priority: UInt32, now: Instant) {
        checklist.succeed(index, now: now)
        checklist.pairs[index].local =
            localCandidate(mapped, base: checklist.pairs[index].base, priority: priority)
            ?? checklist.pairs[index].local
        for other in checklist.pairs.indices
        where checklist.pairs[other].state == .frozen
            && checklist.pairs[other].remote.foundation == checklist.pairs[index].remote.foundation
        {
            if locals.candidate(of: checklist.pairs[other].base)?.foundation
                == locals.candidate(of: checklist.pairs[index].base)?.foundation
            {
                checklist.pairs[other].state = .waiting
            }
        }
        if checklist.pairs[index].awaitsNomination, role == .controlled { nominate(index, now: now) }
    }

    /// Returns our candidate as the peer sees it, a new peer-reflexive one if it is unknown (RFC 8445 §7.2.5.3.1).
    private mutating func localCandidate(
        _ mapped: TransportAddress, base: BaseAddress, priority: UInt32
    ) -> Candidate? {
        if let known = locals.candidate(of: base, seenAs: mapped) { return known }
        guard locals.candidates.count < limits.localCandidates else {
            statistics.overLimit += 1
            return nil
        }
        let candidate = Candidate(
            foundation: locals.foundation(
                type: .peerReflexive, base: base.address.ip, server: nil, tcpType: locals.base(at: base)?.tcpType),
            priority: priority, address: mapped, type: .peerReflexive, base: base.address,
            tcpType: locals.base(at: base)?.tcpType)
        locals.add(candidate)
        return candidate
    }
}
