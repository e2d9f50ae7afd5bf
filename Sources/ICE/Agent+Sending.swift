package import RTCShareWireFormat

/// What leaves, and what could not.
extension Agent {
    /// The next datagram to send.
    package mutating func pollTransmit() -> Transmit? {
        transmits.takeFirst()
    }

    /// Sends from a base, whatever its route.
    mutating func send(_ bytes: [UInt8], from base: TransportAddress, to destination: TransportAddress) {
        switch locals.base(at: base)?.route {
        case .socket: queue(Transmit(base: base, destination: destination, bytes: bytes))
        case .stream(let socket):
            guard let framed = RFC4571Framer.framed(bytes) else { return }
            queue(Transmit(base: socket, destination: destination, bytes: framed, transport: .tcp))
        case .relay(let index): relay(bytes, to: destination, through: index)
        case nil: return
        }
    }

    mutating func queue(_ transmit: Transmit) {
        guard transmits.count < limits.transmits else {
            statistics.overLimit += 1
            return
        }
        transmits.append(transmit)
    }

    /// Says that the system could not send from `base` to `destination`, as where there is no route, or that a stream
    /// could not be opened or ended: the pair fails, a STUN or TURN server is given up.
    package mutating func transmitFailed(
        base: TransportAddress, destination: TransportAddress, over transport: TransportProtocol = .udp, now: Instant
    ) {
        guard isActive else { return }
        asked.relays.transportFailed(at: base, to: destination, over: transport, now: now)
        if transport == .udp { failTransactions(base: base, destination: destination) }
        if transport == .udp, let index = checklist.index(base: base, remote: destination),
            checklist.pairs[index].id != checklist.selected
        {
            checklist.fail(index, as: .unreachable)
        }
        if transport == .tcp { streamFailed(from: base, to: destination) }
        advance(now: now)
    }

    private mutating func failTransactions(base: TransportAddress, destination: TransportAddress) {
        for transaction in transactions.between(base, destination) {
            if case .gather(let order) = transaction.purpose { finishGather(order, as: .unreachable) }
            // Consent runs out by itself: a route can come back.
            if case .consent = transaction.purpose { continue }
            transactions[transaction.id] = nil
        }
    }
}
