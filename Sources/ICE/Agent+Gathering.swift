import STUN
public import WireFormat

extension Agent {
    /// Asks STUN servers what our bases look like from outside (RFC 8445 §5.1.1.2); with no servers, gathering is
    /// complete at once. To be called once, after the last ``addLocalHost(_:interfaceOrder:now:)``.
    public mutating func gather(servers: [TransportAddress], now: Instant) {
        guard isActive, gatheringLimit == nil, gathers.isEmpty else { return }
        for server in servers {
            for base in bases where base.address.ip.isV4 == server.ip.isV4 {
                guard base.address.ip.isLoopback == server.ip.isLoopback, !base.address.ip.isLinkLocal else { continue }
                let start = now.advanced(by: timing.pace * gathers.count)
                gathers.append(Gather(base: base.address, server: server))
                let id = TransactionID(using: &generator)
                let request = STUNMessage(.request, transactionID: id, attributes: softwareAttributes)
                guard let bytes = try? request.encoded() else { continue }
                transactions[id] = Transaction(
                    id: id, purpose: .gather(order: gathers.count - 1), base: base.address, destination: server,
                    bytes: bytes, latestTransmission: start, due: start, wait: timing.gatherRetransmission)
            }
        }
        gatheringLimit = now.advanced(by: timing.gatherLimit)
        advance(now: now)
    }

    var softwareAttributes: [Attribute] {
        configuration.software.map { [.software($0)] } ?? []
    }

    /// The answer of a STUN server. A server has no credentials to prove: the transaction identifier stands for them.
    mutating func finishGather(
        _ order: Int, _ transaction: Transaction, with message: STUNMessage, now: Instant
    ) {
        gathers[order].isDone = true
        guard message.messageClass == .successResponse, let mapped = message.mappedAddress,
            message.unknownRequiredAttributes.isEmpty
        else { return }
        gathers[order].keepalive = now.advanced(by: timing.bindingKeepalive)
        guard let base = bases.first(where: { $0.address == transaction.base }) else { return }
        addReflexive(mapped, of: base, server: transaction.destination.ip)
    }

    /// Says that this machine is known outside under `address`, port for port (1:1 NAT): every base is told to be reached
    /// there too, as a STUN server would have told. To be called after the last ``addLocalHost(_:interfaceOrder:now:)``.
    public mutating func addPublicAddress(_ address: IPAddress, now: Instant) {
        guard isActive else { return }
        for base in bases where base.address.ip.isV4 == address.isV4 {
            guard !base.address.ip.isLoopback, !base.address.ip.isLinkLocal else { continue }
            addReflexive(TransportAddress(ip: address, port: base.address.port), of: base, server: nil)
        }
        advance(now: now)
    }

    /// Adds what a base looks like from outside, unless that is known. The pairs are those of the base (RFC 8445 §6.1.2.4).
    private mutating func addReflexive(_ mapped: TransportAddress, of base: Base, server: IPAddress?) {
        guard !localCandidates.contains(where: { $0.address == mapped && $0.base == base.address }) else { return }
        guard localCandidates.count < limits.localCandidates else {
            statistics.overLimit += 1
            return
        }
        let candidate = Candidate(
            foundation: foundation(type: .serverReflexive, base: base.address.ip, server: server),
            priority: Candidate.priority(type: .serverReflexive, localPreference: base.localPreference),
            address: mapped, type: .serverReflexive, base: base.address)
        localCandidates.append(candidate)
        emit(.candidateGathered(candidate))
    }

    var isGathering: Bool { gatheringLimit != nil }

    mutating func advanceGathering(now: Instant) {
        if let limit = gatheringLimit, limit <= now || gathers.allSatisfy(\.isDone) {
            gatheringLimit = nil
            for index in gathers.indices { gathers[index].isDone = true }
            for (id, transaction) in transactions {
                if case .gather = transaction.purpose { transactions[id] = nil }
            }
            emit(.gatheringComplete)
        }
        for index in gathers.indices {
            guard let due = gathers[index].keepalive, due <= now else { continue }
            // A nominated pair has keepalives of its own.
            gathers[index].keepalive = selected == nil ? now.advanced(by: timing.bindingKeepalive) : nil
            guard selected == nil else { continue }
            let indication = STUNMessage(.indication, transactionID: TransactionID(using: &generator))
            guard let bytes = try? indication.encoded() else { continue }
            send(bytes, from: gathers[index].base, to: gathers[index].server)
        }
    }
}
