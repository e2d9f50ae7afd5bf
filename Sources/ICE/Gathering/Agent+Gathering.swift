import RTCShareSTUN
package import RTCShareWireFormat

extension Agent {
    /// Requests mapped addresses of our bases from STUN servers and relayed addresses from TURN servers (RFC 8445
    /// §5.1.1.2). Without servers, gathering is complete immediately. Call it after the last
    /// ``addLocalHost(_:interfaceOrder:now:)``, and again for later bases and for servers that failed.
    ///
    /// Each base sends requests to each server of its own IP version, the preferred base first. A relayed address is
    /// IPv4, as in browsers. If bases of both versions have a TURN server, those of IPv6 request IPv6, so that peers of
    /// either version are reachable. If the server has no address of the requested version, the other one is requested.
    package mutating func gather(servers: [ICEServerAddress], now: Instant) {
        guard isActive else { return }
        for server in servers where !locals.bases.contains(where: { Self.isWorthAsking(server.address.ip, from: $0) }) {
            refuse(server, from: nil, as: .noLocalAddress)
        }
        var start = now
        for base in locals.bases.sorted(by: { $0.localPreference > $1.localPreference }) {
            for server in servers where Self.isWorthAsking(server.address.ip, from: base) {
                switch server.kind {
                case .stun: ask(server, from: base, at: &start)
                case .turn(let credentials): ask(server, credentials, from: base, among: servers, at: &start)
                }
            }
        }
        waitForServers(now: now)
        advance(now: now)
    }

    /// Sends new requests to every server, as for a restart (RFC 8445 §9): our mapped addresses can have changed, and a
    /// failed server can work again.
    package mutating func gatherAgain(now: Instant) {
        guard isActive else { return }
        isGatheredAgain = true
        var start = now
        for order in asked.gathers.indices where asked.begin(order) { bind(order, at: &start) }
        for index in asked.relays.indices where askAgain(relay: index, at: start) {
            start = start.advanced(by: timing.pace)
        }
        if start > now { waitForServers(now: now) }
        advance(now: now)
    }

    /// Whether requests to servers are pending.
    package var isGathering: Bool { asked.limit != nil }

    private mutating func waitForServers(now: Instant) {
        let limit = asked.relays.isEmpty ? timing.gatherLimit : timing.relayGatherLimit
        asked.wait(until: now.advanced(by: limit), reflexive: now.advanced(by: timing.gatherLimit))
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

    /// Whether there is room for a request to one more server from a base.
    private mutating func mayAsk(_ server: ICEServerAddress) -> Bool {
        if asked.count < limits.servers { return true }
        // If preferred bases have sent a request to the server, the others don't need to.
        if !asked.hasReport(of: server) { refuse(server, from: nil, as: .overLimit) }
        return false
    }

    /// Requests a base's mapped address from a STUN server. `isImplied` marks a server that is configured as a TURN
    /// server.
    private mutating func ask(
        _ server: ICEServerAddress, from base: Base, isImplied: Bool = false, at start: inout Instant
    ) {
        // The peer may learn mapped addresses only if the policy allows routes without relays.
        guard configuration.iceTransportPolicy == .all else { return }
        guard server.transport == .udp else {
            return refuse(server, from: base.address, as: .unsupportedTransport(server.transport))
        }
        if let order = asked.order(of: server, from: base.address) {
            if !isImplied { asked.gathers[order].name(server) }
            if asked.gathers[order].hasFailed, asked.begin(order) { bind(order, at: &start) }
        } else if mayAsk(server) {
            bind(asked.add(Gather(base: base.address, server: server, isImplied: isImplied)), at: &start)
        }
    }

    private mutating func ask(
        _ server: ICEServerAddress, _ credentials: LongTermCredentials, from base: Base,
        among servers: [ICEServerAddress], at start: inout Instant
    ) {
        if let index = asked.relays.index(of: server, from: base.address) {
            addCredentials(from: servers, toRelay: index)
            if askAgain(relay: index, at: start) { start = start.advanced(by: timing.pace) }
        } else if mayAsk(server) {
            addRelay(
                server, credentials, from: base, family: relayedFamily(from: base, servers: servers), at: start)
            start = start.advanced(by: timing.pace)
        }
        guard configuration.relaysHaveOwnPorts, server.transport == .udp else { return }
        let seen = ICEServerAddress(kind: .stun, address: server.address, url: server.url)
        ask(seen, from: base, isImplied: true, at: &start)
    }

    /// Sends a Binding request to a STUN server at `start`, which replaces a pending one, and moves `start` to the time
    /// of the next request to any server.
    private mutating func bind(_ order: Int, at start: inout Instant) {
        transactions.remove(ofGather: order)
        let id = TransactionID(using: &generator)
        let request = STUNMessage(.request, transactionID: id, attributes: softwareAttributes)
        guard let bytes = try? request.encoded() else { return }
        transactions[id] = Transaction(
            id: id, purpose: .gather(order: order), base: BaseAddress(asked.gathers[order].base),
            destination: asked.gathers[order].server.address, bytes: bytes, firstTransmission: start,
            latestTransmission: start, limit: start, due: start, wait: timing.gatherRetransmission)
        start = start.advanced(by: timing.pace)
    }

    var softwareAttributes: [Attribute] {
        configuration.software.map { [.software($0)] } ?? []
    }

    /// Handles a STUN server's response. A server has no credentials, so that the transaction identifier authenticates
    /// it.
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
        let former = asked.gathers[order].mapped
        asked.finishGather(
            order, mapped: mapped,
            roundTripTime: transaction.transmissions == 1 ? now - transaction.latestTransmission : nil,
            keepalive: now.advanced(by: timing.bindingKeepalive))
        guard let base = locals.base(at: transaction.base) else { return }
        addReflexive(mapped, of: base, server: asked.gathers[order].server, insteadOf: former)
    }

    /// Records a STUN server's failure.
    mutating func finishGather(_ order: Int, as error: ServerError) {
        if let failure = asked.finishGather(order, as: error) { emit(.serverFailed(failure)) }
    }

    /// Returns a server's error with a reason that is safe to display: short, and without control characters.
    private static func shortened(_ error: ErrorCode) -> ErrorCode {
        ErrorCode(code: error.code, reason: String(error.reason.printable.prefix(64)))
    }

    /// Adds `address` as a server-reflexive candidate of every socket and listener, with its port (1:1 NAT). Call it
    /// after the last ``addLocalHost(_:interfaceOrder:now:)`` and ``addListener(_:now:)``.
    package mutating func addPublicAddress(_ address: IPAddress, now: Instant) {
        guard isActive, configuration.iceTransportPolicy == .all else { return }
        for base in locals.bases where base.address.ip.isV4 == address.isV4 {
            guard base.route == .socket || base.route == .passive, !base.address.ip.isLoopback,
                !base.address.ip.isLinkLocal
            else { continue }
            addReflexive(TransportAddress(ip: address, port: base.address.port), of: base, server: nil)
        }
        advance(now: now)
    }

    /// Adds the address that a router forwards to a socket or a listener, as a server-reflexive candidate. It replaces the
    /// former one, if there was one.
    package mutating func addForwardedAddress(
        _ address: TransportAddress, to base: BaseAddress, insteadOf former: TransportAddress? = nil, now: Instant
    ) {
        guard isActive, configuration.iceTransportPolicy == .all, let base = locals.base(at: base) else { return }
        addReflexive(address, of: base, server: nil, insteadOf: former)
        advance(now: now)
    }

    /// Adds a mapped address of a base, unless it is known, and removes the former one from the same server. The pairs
    /// are those of the base (RFC 8445 §6.1.2.4).
    mutating func addReflexive(
        _ mapped: TransportAddress, of base: Base, server: ICEServerAddress?, insteadOf former: TransportAddress? = nil
    ) {
        if let former, former != mapped, !asked.isSeen(base.address, as: former) {
            locals.removeReflexive(former, of: base.id)
        }
        guard locals.candidate(of: base.id, seenAs: mapped) == nil else { return }
        guard locals.candidates.count < limits.localCandidates else {
            statistics.overLimit += 1
            return
        }
        let preference = base.tcpType?.localPreference(of: .serverReflexive, base: base) ?? base.localPreference
        var candidate = Candidate(
            foundation: locals.foundation(
                type: .serverReflexive, base: base.address.ip, server: server?.address.ip, tcpType: base.tcpType),
            priority: Candidate.priority(
                type: .serverReflexive, over: base.id.transport, localPreference: preference),
            address: mapped, type: .serverReflexive, base: base.address, tcpType: base.tcpType)
        candidate.url = server?.url
        locals.add(candidate)
        emit(.candidateGathered(candidate))
    }

    mutating func advanceGathering(now: Instant) {
        if let limit = asked.reflexiveLimit, limit <= now {
            asked.endReflexive()
            for index in asked.gathers.indices { finishGather(index, as: asked.gathers[index].error ?? .noAnswer) }
            transactions.removeGathering()
        }
        if let limit = asked.limit, limit <= now || asked.areSettled {
            asked.end()
            emit(.gatheringComplete)
        }
        keepBindingsAlive(now: now)
    }

    /// Keeps the NAT bindings toward STUN servers alive as long as no working pair does so. The responses contain the
    /// current mapped addresses. After a pair has stopped working, all servers receive a request immediately.
    private mutating func keepBindingsAlive(now: Instant) {
        asked.setKeepalives(areNeeded: state != .connected, now: now)
        var start = now
        for index in asked.gathers.indices {
            guard let due = asked.gathers[index].keepalive, due <= now else { continue }
            asked.gathers[index].keepalive = now.advanced(by: timing.bindingKeepalive)
            if !transactions.hasGather(index) { bind(index, at: &start) }
        }
    }
}
