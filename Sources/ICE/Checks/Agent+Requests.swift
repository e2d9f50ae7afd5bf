import RTCShareSTUN
import RTCShareWireFormat

extension Agent {
    /// Handles a request of the peer (RFC 8445 §7.3). It sends the response first and then updates the pairs. Returns
    /// false, without any change, if the request is not from the peer or is repeated.
    mutating func handleRequest(
        _ message: STUNMessage, byteCount: Int, from source: TransportAddress, to base: Base, now: Instant
    ) -> Bool {
        guard message.hasIntegrity, let username = message.username else {
            return refuseStranger(message, byteCount, with: .badRequest, from: source, to: base, now: now)
        }
        guard let (addressee, own, remoteFragment) = credentials.addressee(of: username, now: now),
            message.isAuthentic(key: own.key)
        else {
            return refuseStranger(message, byteCount, with: .unauthenticated, from: source, to: base, now: now)
        }
        guard message.unknownRequiredAttributes.isEmpty else {
            refuse(message, with: .unknownAttribute, key: own.key, from: source, to: base)
            return false
        }
        if let path = incoming.answered.path(of: message.transactionID) {
            statistics.repeatedRequests += 1
            // The response was lost, or an attacker replays the request: only a request over the first path is
            // answered.
            guard path == .init(source: source, base: base.id) else { return false }
            respond(
                to: message, .successResponse, attributes: [.xorMappedAddress(source)], key: own.key, from: source,
                to: base)
            return false
        }
        guard settleRoles(message) else {
            refuse(message, with: .roleConflict, key: own.key, from: source, to: base)
            return false
        }
        respond(
            to: message, .successResponse, attributes: [.xorMappedAddress(source)], key: own.key, from: source,
            to: base)
        let check = IncomingCheck(
            source: source, base: base.id, remoteFragment: remoteFragment,
            priority: message.priority ?? Candidate.priority(type: .peerReflexive, localPreference: 0),
            nominates: message.usesCandidate)
        switch addressee {
        case .current where remoteCredentials != nil: process(check, now: now)
        case .current, .offered: guard remember(check) else { return false }
        case .retired: recordRetired(from: source, to: base.id, now: now)
        }
        incoming.answered.note(message.transactionID, from: source, to: base.id)
        return true
    }

    /// Rejects a request from a sender that does not know the password. Responses are rare and never longer than the
    /// request, so that nobody can use this agent to flood another host, or to take bandwidth from media.
    private mutating func refuseStranger(
        _ message: STUNMessage, _ byteCount: Int, with error: ErrorCode, from source: TransportAddress, to base: Base,
        now: Instant
    ) -> Bool {
        statistics.unauthenticatedRequests += 1
        let response = STUNMessage(
            .errorResponse, transactionID: message.transactionID,
            attributes: softwareAttributes + [.errorCode(error)])
        if let bytes = try? response.encoded(), bytes.count <= byteCount, incoming.refusals.take(now: now) {
            send(bytes, from: base.id, to: source)
        }
        return false
    }

    /// Resolves a role conflict (RFC 8445 §7.3.1.1). Returns false if the peer must change its role.
    private mutating func settleRoles(_ message: STUNMessage) -> Bool {
        switch role {
        case .controlling:
            guard let theirs = message.iceControlling else { return true }
            if tieBreaker >= theirs { return false }
        case .controlled:
            guard let theirs = message.iceControlled else { return true }
            if tieBreaker < theirs { return false }
        }
        switchRole()
        return true
    }

    /// Stores an early check. Returns false if there is no room.
    private mutating func remember(_ check: IncomingCheck) -> Bool {
        guard incoming.keep(check) else {
            statistics.overLimit += 1
            return false
        }
        return true
    }

    /// Updates the pair of an authentic request (RFC 8445 §7.3.1.3 to §7.3.1.5).
    mutating func process(_ check: IncomingCheck, now: Instant) {
        guard let remote = remoteCandidate(of: check), let local = locals.candidate(of: check.base),
            let index = addPair(local, remote)
        else {
            statistics.overLimit += 1
            return
        }
        checklist.pairs[index].statistics.requestsReceived += 1
        checklist.pairs[index].statistics.responsesSent += 1
        checklist.pairs[index].latestRequest = now
        checklist.pairs[index].latestRequestNominates = check.nominates
        switch checklist.pairs[index].state {
        case .succeeded: break
        case .inProgress:
            // The request has just shown that the route is open.
            let wait = checkWait(of: index)
            transactions.hastenCheck(
                of: checklist.pairs[index].id, pause: wait, wait: wait,
                limit: now.advanced(by: timing.checkPatience), now: now)
        case .frozen, .waiting, .failed: checklist.trigger(index)
        }
        guard check.nominates, role == .controlled else { return }
        if checklist.pairs[index].state != .succeeded {
            checklist.pairs[index].awaitsNomination = true
        } else if checklist.pairs[index].id == checklist.selected || isFresh(checklist.pairs[index], now: now) {
            nominate(index, now: now)
        } else {
            // The pair's last answer is too old to count as consent (RFC 7675 §5.1), so that it is checked first.
            checklist.pairs[index].awaitsNomination = true
            checklist.trigger(index)
        }
    }

    private func isFresh(_ pair: CandidatePair, now: Instant) -> Bool {
        pair.latestResponse.map { now - $0 < timing.consentExpiry / 2 } ?? false
    }

    /// Returns the candidate of a request's source, a new peer-reflexive one if it is unknown (RFC 8445 §7.3.1.3).
    private mutating func remoteCandidate(of check: IncomingCheck) -> Candidate? {
        guard let base = locals.base(at: check.base) else { return nil }
        let tcpType = base.tcpType?.opposite
        if let index = remotes.index(of: check.source, tcpType) { return remotes.candidates[index] }
        guard makeRoomForRemote() else { return nil }
        return remotes.addPeerReflexive(check.source, tcpType, priority: check.priority)
    }

    private mutating func refuse(
        _ message: STUNMessage, with error: ErrorCode, key: [UInt8], from source: TransportAddress, to base: Base
    ) {
        var attributes: [Attribute] = [.errorCode(error)]
        if error == .unknownAttribute { attributes.append(.unknownAttributes(message.unknownRequiredAttributes)) }
        respond(
            to: message, .errorResponse, attributes: attributes, key: key, from: source, to: base)
    }

    private mutating func respond(
        to message: STUNMessage, _ messageClass: MessageClass, attributes: [Attribute], key: [UInt8],
        from source: TransportAddress, to base: Base
    ) {
        let response = STUNMessage(
            messageClass, transactionID: message.transactionID, attributes: softwareAttributes + attributes)
        guard let bytes = try? response.encoded(integrityKey: key) else { return }
        send(bytes, from: base.id, to: source)
    }
}
