import RTCShareSTUN
import RTCShareWireFormat

extension TURNAllocation {
    /// Sends a new request. `staleNonces` counts the rejections of earlier ones because of their nonces.
    mutating func request(_ purpose: Purpose, staleNonces: Int = 0, now: Instant) {
        let id = TransactionID(using: &generator)
        let message = STUNMessage(
            .request, method: purpose.method, transactionID: id, attributes: attributes(for: purpose))
        guard let bytes = try? authentication?.encode(message) ?? message.encoded() else {
            fail(.hashUnavailable)
            return
        }
        let isStream = configuration.transport.isStream
        let wait = isStream ? timing.streamTimeout : timing.retransmission
        requests[id] = Request(
            purpose: purpose, bytes: bytes, isAuthenticated: authentication != nil, staleNonces: staleNonces,
            sent: now, wait: wait, due: now.advanced(by: wait))
        send(bytes)
    }

    private func attributes(for purpose: Purpose) -> [Attribute] {
        var attributes: [Attribute] = configuration.software.map { [.software($0)] } ?? []
        switch purpose {
        case .allocate:
            attributes.append(.requestedTransport(.udp))
            attributes.append(.lifetime(timing.lifetime))
            // IPv4 is the default of servers, including older ones (RFC 8656 §7.1).
            if configuration.family == .v6 { attributes.append(.requestedAddressFamily(.v6)) }
        case .refresh: attributes.append(.lifetime(timing.lifetime))
        case .release, .clear: attributes.append(.lifetime(.zero))
        case .permission(let ip): attributes.append(.xorPeerAddress(TransportAddress(ip: ip, port: 0)))
        case .channel(let peer):
            if let channel = channels[peer] { attributes.append(.channelNumber(channel.number)) }
            attributes.append(.xorPeerAddress(peer))
        }
        return attributes
    }

    /// Retransmits unanswered requests, and ends those whose time has expired.
    mutating func retransmit(now: Instant) {
        for (id, request) in requests where request.due <= now && requests[id] != nil {
            guard !configuration.transport.isStream, request.transmissions < timing.transmissions else {
                requests[id] = nil
                giveUp(request.purpose, now: now)
                continue
            }
            var request = request
            request.transmissions += 1
            request.wait =
                request.transmissions < timing.transmissions
                ? request.wait * 2 : timing.retransmission * timing.finalWait
            request.due = now.advanced(by: request.wait)
            requests[id] = request
            send(request.bytes)
        }
    }

    private mutating func giveUp(_ purpose: Purpose, now: Instant) {
        switch purpose {
        case .allocate, .refresh: fail(.unreachable(configuration.transport))
        case .clear: fail(.portInUse)
        case .release:
            stop(.released)
            emit(.released)
        case .permission(let ip): refusePermission(ip, nil)
        case .channel(let peer): refuseChannel(peer)
        }
    }

    /// Refreshes the allocation, the permissions and the channels that are due.
    mutating func renew(now: Instant) {
        guard isAllocated else { return }
        if let due = refreshDue, due <= now {
            refreshDue = nil
            request(.refresh, now: now)
        }
        for (ip, permission) in permissions {
            guard let due = permission.refreshDue, due <= now, isAllocated else { continue }
            permissions[ip]?.refreshDue = nil
            request(.permission(ip), now: now)
        }
        for (peer, channel) in channels {
            guard let due = channel.refreshDue, due <= now, isAllocated else { continue }
            channels[peer]?.refreshDue = nil
            request(.channel(peer), now: now)
        }
    }
}

extension TURNAllocation.Purpose {
    var method: RTCShareSTUN.Method {
        switch self {
        case .allocate: .allocate
        case .refresh, .release, .clear: .refresh
        case .permission: .createPermission
        case .channel: .channelBind
        }
    }
}
