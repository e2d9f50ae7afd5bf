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
            for base in asking where !asked.isAsked(server, from: base.address) {
                guard asked.count < limits.servers else {
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
        let limit = asked.relays.isEmpty ? timing.gatherLimit : timing.relayGatherLimit
        asked.wait(until: now.advanced(by: limit), reflexive: now.advanced(by: timing.gatherLimit))
        advance(now: now)
    }

    static func isWorthAsking(_ server: IPAddress, from base: Base) -> Bool {
        let address = base.address.ip
        return base.route == .socket && address.isV4 == server.isV4 && address.isLoopback == server.isLoopback
            && !address.isLinkLocal
    }

    mutating func refuse(_ server: ICEServerAddress, from base: TransportAddress?, as error: ServerError) {
        let failure = ServerFailure(server: server, base: base, error: error)
        if asked.refuse(failure) { emit(.serverFailed(failure)) }
    }

    private mutating func ask(_ server: ICEServerAddress, from base: Base, at start: Instant) {
        let order = asked.add(Gather(base: base.address, server: server))
        let id = TransactionID(using: &generator)
        let request = STUNMessage(.request, transactionID: id, attributes: softwareAttributes)
        guard let bytes = try? request.encoded() else { return }
        transactions[id] = Transaction(
            id: id, purpose: .gather(order: order), base: base.address, destination: server.address,
            bytes: bytes, firstTransmission: start, latestTransmission: start, limit: start, due: start,
            wait: timing.gatherRetransmission)
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
        asked.finishGather(
            order, mapped: mapped,
            roundTripTime: transaction.transmissions == 1 ? now - transaction.latestTransmission : nil,
            keepalive: now.advanced(by: timing.bindingKeepalive))
        guard let base = locals.base(at: transaction.base) else { return }
        addReflexive(mapped, of: base, server: asked.gathers[order].server)
    }

    /// A STUN server that gives nothing.
    mutating func finishGather(_ order: Int, as error: ServerError) {
        if let failure = asked.finishGather(order, as: error) { emit(.serverFailed(failure)) }
    }

    /// A server's words, made fit to be shown: few, and without control characters.
    private static func shortened(_ error: ErrorCode) -> ErrorCode {
        ErrorCode(code: error.code, reason: String(error.reason.printable.prefix(64)))
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

    mutating func advanceGathering(now: Instant) {
        if let limit = asked.reflexiveLimit, limit <= now {
            asked.endReflexive()
            for index in asked.gathers.indices { finishGather(index, as: .noAnswer) }
            transactions.removeGathering()
        }
        if let limit = asked.limit, limit <= now || asked.areSettled {
            asked.end()
            emit(.gatheringComplete)
        }
        for index in asked.gathers.indices {
            guard let due = asked.gathers[index].keepalive, due <= now else { continue }
            // A nominated pair has keepalives of its own.
            asked.gathers[index].keepalive = checklist.selected == nil ? now.advanced(by: timing.bindingKeepalive) : nil
            guard checklist.selected == nil else { continue }
            keepAlive(asked.gathers[index].server.address, from: asked.gathers[index].base)
        }
    }

    /// An indication that asks for nothing, for the translators on the way (RFC 8445 §11).
    mutating func keepAlive(_ server: TransportAddress, from base: TransportAddress) {
        let indication = STUNMessage(.indication, transactionID: TransactionID(using: &generator))
        guard let bytes = try? indication.encoded() else { return }
        send(bytes, from: base, to: server)
    }
}
