package import RTCShareWireFormat

/// Sending, and failures of sending.
extension Agent {
    /// Returns the next datagram to send.
    package mutating func pollTransmit() -> Transmit? {
        transmits.takeFirst()
    }

    /// Sends from a base over its route.
    mutating func send(_ bytes: [UInt8], from base: BaseAddress, to destination: TransportAddress) {
        switch locals.base(at: base)?.route {
        case .socket: queue(Transmit(base: base.address, destination: destination, bytes: bytes))
        case .active, .passive:
            guard let framed = RFC4571Framer.framed(bytes) else { return }
            queue(Transmit(base: base.address, destination: destination, bytes: framed, transport: .tcp))
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

    /// Reports that the system could not send from `base` to `destination`, for example because there is no route, or
    /// that a stream could not be opened or was closed. The datagram counts as lost: checks, and requests to a server
    /// over UDP, are retransmitted on schedule, and a check opens a stream again, before they fail. A TURN server over
    /// a stream fails immediately.
    package mutating func transmitFailed(
        base: TransportAddress, destination: TransportAddress, over transport: TransportProtocol = .udp, now: Instant
    ) {
        guard isActive else { return }
        for failure in asked.relays.transportFailed(at: base, to: destination, over: transport, now: now) {
            emit(.serverFailed(failure))
        }
        switch transport {
        case .udp: recordRefusal(from: base, to: destination)
        case .tcp: streamFailed(from: BaseAddress(base, over: .tcp), to: destination, now: now)
        case .tls: break
        }
        advance(now: now)
    }

    private mutating func recordRefusal(from base: TransportAddress, to destination: TransportAddress) {
        for transaction in transactions.recordRefusal(from: BaseAddress(base), to: destination) {
            switch transaction.purpose {
            case .gather(let order):
                if let failure = asked.recordRefusal(order) { emit(.serverFailed(failure)) }
            case .check(let pair, _, _, _):
                if let index = checklist.index(pair) { checklist.pairs[index].failure = .unreachable }
            // Consent expires by itself.
            case .consent, .relayBinding: continue
            }
        }
    }
}
