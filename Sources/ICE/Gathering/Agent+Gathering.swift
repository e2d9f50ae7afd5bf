import RTCShareSTUN
package import RTCShareWireFormat

extension Agent {
    /// Asks STUN servers what our bases look like from outside, and TURN servers for addresses to relay from
    /// (RFC 8445 §5.1.1.2); with no servers, gathering is complete at once. To be called after the last
    /// ``addLocalHost(_:interfaceOrder:now:)``, and again for bases that came later.
    ///
    /// Each base asks each server of its own IP version. A relayed address is of IPv4, as browsers ask for it; where
    /// bases of both versions have a TURN server, those of IPv6 ask for IPv6, so that peers of either are reached. Where
    /// the server has no address of the version that was asked for, the other one is.
    package mutating func gather(servers: [ICEServerAddress], now: Instant) {
        guard isActive else { return }
        var order = 0
        for server in servers {
            let asking = locals.bases.filter { Self.isWorthAsking(server.address.ip, from: $0) }
            if asking.isEmpty { refuse(server, from: nil, as: .noLocalAddress) }
            for base in asking where !isAsked(server, from: base) {
                guard askedCount < limits.servers else {
                    refuse(server, from: base.address, as: .overLimit)
                    continue
                }
                let start = now.advanced(by: timing.pace * order)
                switch server.kind {
                case .stun:
                    // What a server sees of a socket is told to the peer only where paths without relays are allowed.
                    guard configuration.iceTransportPolicy == .all else { continue }
                    guard server.transport == .udp else {
                        refuse(server, from: base.address, as: .unsupportedTransport(server.transport))
                        continue
                    }
                    ask(server, from: base, at: start)
                case .turn(let credentials):
                    let family = relayedFamily(from: base, servers: servers)
                    addRelay(server, credentials, from: base, family: family, at: start)
                }
                order += 1
            }
        }
        reflexiveLimit = now.advanced(by: timing.gatherLimit)
        gatheringLimit = relays.isEmpty ? reflexiveLimit : now.advanced(by: timing.relayGatherLimit)
        advance(now: now)
    }

    static func isWorthAsking(_ server: IPAddress, from base: Base) -> Bool {
        let address = base.address.ip
        return base.route == .socket && address.isV4 == server.isV4 && address.isLoopback == server.isLoopback
            && !address.isLinkLocal
    }

    private func isAsked(_ server: ICEServerAddress, from base: Base) -> Bool {
        gathers.contains { $0.server == server && $0.base == base.address && !$0.isAbandoned }
            || isRelayAsked(server, from: base)
    }

    /// A server has one allocation for a port of ours (RFC 8656 §3.2), whatever the URLs that lead there.
    private func isRelayAsked(_ server: ICEServerAddress, from base: Base) -> Bool {
        guard case .turn = server.kind else { return false }
        return relays.contains { relay in
            relay.server.address == server.address && relay.transport == server.transport
                && relay.base.address == base.address && !relay.isAbandoned
        }
    }

    private var askedCount: Int {
        gathers.count { !$0.isAbandoned } + relays.count { !$0.isAbandoned }
    }

    mutating func refuse(_ server: ICEServerAddress, from base: TransportAddress?, as error: ServerError) {
        let failure = ServerFailure(server: server, base: base, error: error)
        guard !unaskedServers.contains(failure) else { return }
        unaskedServers.append(failure)
        emit(.serverFailed(failure))
    }

    private mutating func ask(_ server: ICEServerAddress, from base: Base, at start: Instant) {
        let gather = Gather(base: base.address, server: server)
        let order = gathers.firstIndex(where: \.isAbandoned) ?? gathers.count
        if order < gathers.count { gathers[order] = gather } else { gathers.append(gather) }
        let id = TransactionID(using: &generator)
        let request = STUNMessage(.request, transactionID: id, attributes: softwareAttributes)
        guard let bytes = try? request.encoded() else { return }
        transactions[id] = Transaction(
            id: id, purpose: .gather(order: order), base: base.address, destination: server.address,
            bytes: bytes, latestTransmission: start, due: start, wait: timing.gatherRetransmission)
    }

    var softwareAttributes: [Attribute] {
        configuration.software.map { [.software($0)] } ?? []
    }

    /// The answer of a STUN server. A server has no credentials to prove: the transaction identifier stands for them.
    mutating func finishGather(
        _ order: Int, _ transaction: Transaction, with message: STUNMessage, now: Instant
    ) {
        transactions[transaction.id] = nil
        guard message.messageClass == .successResponse, let mapped = message.mappedAddress,
            message.unknownRequiredAttributes.isEmpty
        else {
            let error = message.errorCode.map(Self.shortened)
            finishGather(
                order, as: error.map { .refused(code: $0.code, reason: $0.reason) } ?? .malformedResponse)
            return
        }
        gathers[order].isDone = true
        gathers[order].mapped = mapped
        if transaction.transmissions == 1 { gathers[order].roundTripTime = now - transaction.latestTransmission }
        gathers[order].keepalive = now.advanced(by: timing.bindingKeepalive)
        guard let base = locals.base(at: transaction.base) else { return }
        addReflexive(mapped, of: base, server: gathers[order].server)
    }

    /// A STUN server that gives nothing.
    mutating func finishGather(_ order: Int, as error: ServerError) {
        guard !gathers[order].isDone else { return }
        gathers[order].isDone = true
        gathers[order].error = error
        emit(.serverFailed(ServerFailure(server: gathers[order].server, base: gathers[order].base, error: error)))
    }

    /// A server's words, made fit to be shown: few, and without control characters.
    private static func shortened(_ error: ErrorCode) -> ErrorCode {
        ErrorCode(code: error.code, reason: String(error.reason.printable.prefix(64)))
    }

    func report(_ gather: Gather) -> ServerReport {
        ServerReport(
            server: gather.server, base: gather.base,
            outcome: gather.error.map { .failed($0) } ?? (gather.isDone ? .answered : .waiting),
            mappedAddress: gather.mapped, relayedAddress: nil, lifetime: nil, roundTripTime: gather.roundTripTime,
            alternateServer: nil)
    }

    /// Says that this machine is known outside under `address`, port for port (1:1 NAT): every base is told to be reached
    /// there too, as a STUN server would have told. To be called after the last ``addLocalHost(_:interfaceOrder:now:)``.
    package mutating func addPublicAddress(_ address: IPAddress, now: Instant) {
        guard isActive, configuration.iceTransportPolicy == .all else { return }
        for base in locals.bases where base.route == .socket && base.address.ip.isV4 == address.isV4 {
            guard !base.address.ip.isLoopback, !base.address.ip.isLinkLocal else { continue }
            addReflexive(TransportAddress(ip: address, port: base.address.port), of: base, server: nil)
        }
        advance(now: now)
    }

    /// Adds what a base looks like from outside, unless that is known. The pairs are those of the base (RFC 8445 §6.1.2.4).
    mutating func addReflexive(_ mapped: TransportAddress, of base: Base, server: ICEServerAddress?) {
        guard locals.candidate(of: base.address, seenAs: mapped) == nil else { return }
        guard locals.candidates.count < limits.localCandidates else {
            statistics.overLimit += 1
            return
        }
        var candidate = Candidate(
            foundation: locals.foundation(type: .serverReflexive, base: base.address.ip, server: server?.address.ip),
            priority: Candidate.priority(type: .serverReflexive, localPreference: base.localPreference),
            address: mapped, type: .serverReflexive, base: base.address)
        candidate.url = server?.url
        locals.add(candidate)
        emit(.candidateGathered(candidate))
    }

    var isGathering: Bool { gatheringLimit != nil }

    mutating func advanceGathering(now: Instant) {
        if let limit = reflexiveLimit, limit <= now {
            reflexiveLimit = nil
            for index in gathers.indices { finishGather(index, as: .noAnswer) }
            transactions.removeGathering()
        }
        if let limit = gatheringLimit, limit <= now || isEveryServerDone {
            (gatheringLimit, reflexiveLimit) = (nil, nil)
            emit(.gatheringComplete)
        }
        for index in gathers.indices {
            guard let due = gathers[index].keepalive, due <= now else { continue }
            // A nominated pair has keepalives of its own.
            gathers[index].keepalive = checklist.selected == nil ? now.advanced(by: timing.bindingKeepalive) : nil
            guard checklist.selected == nil else { continue }
            keepAlive(gathers[index].server.address, from: gathers[index].base)
        }
    }

    private var isEveryServerDone: Bool {
        gathers.allSatisfy(\.isDone) && relays.allSatisfy(\.isSettled)
    }

    /// An indication that asks for nothing, for the translators on the way (RFC 8445 §11).
    mutating func keepAlive(_ server: TransportAddress, from base: TransportAddress) {
        let indication = STUNMessage(.indication, transactionID: TransactionID(using: &generator))
        guard let bytes = try? indication.encoded() else { return }
        send(bytes, from: base, to: server)
    }
}
