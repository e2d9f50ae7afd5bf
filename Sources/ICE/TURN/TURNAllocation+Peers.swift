package import RTCShareSTUN
package import RTCShareWireFormat

extension TURNAllocation {
    /// Permits `peer` to send to us from any port, until ``revoke(_:)`` (RFC 8656 §9). Returns false if there is no
    /// relayed address, if the peer's address family differs, or if there are too many peers.
    @discardableResult
    package mutating func permit(_ peer: IPAddress, now: Instant) -> Bool {
        guard case .allocated(let relayed, _) = state, relayed.ip.isV4 == peer.isV4 else { return false }
        guard permissions[peer] == nil else { return true }
        guard permissions.count < configuration.peerLimit else {
            statistics.overLimit += 1
            return false
        }
        permissions[peer] = Permission()
        request(.permission(peer), now: now)
        updateDeadline()
        return true
    }

    /// Stops refreshing the permission of `peer` and its channels, which then expire at the server.
    package mutating func revoke(_ peer: IPAddress) {
        permissions[peer] = nil
        for (address, channel) in channels where address.ip == peer {
            channels[address] = nil
            channelPeers[channel.number] = nil
        }
        requests = requests.filter { _, request in
            switch request.purpose {
            case .permission(let ip): ip != peer
            case .channel(let address): address.ip != peer
            case .allocate, .refresh, .release, .clear: true
            }
        }
        updateDeadline()
    }

    /// Returns the bound channel for data to `peer`, for callers that write ChannelData in place.
    package func boundChannel(to peer: TransportAddress) -> ChannelNumber? {
        channels[peer].flatMap { $0.isBound ? $0.number : nil }
    }

    /// Sends a datagram to `peer`, for which it creates a permission if necessary: on its channel, or in a Send
    /// indication before there is one. A datagram that is not STUN counts as the start of a flow and causes a channel
    /// binding. Returns false if the datagram is dropped: without a relayed address, over a limit, or too long.
    @discardableResult
    package mutating func send(_ bytes: RawSpan, to peer: TransportAddress, now: Instant) -> Bool {
        guard permit(peer.ip, now: now), let message = enclosed(bytes, to: peer) else { return false }
        send(message)
        if !STUNMessage.isSTUN(bytes) { bind(peer, now: now) }
        return true
    }

    /// Returns the message to the server that contains a datagram for `peer`: on the peer's channel, or in a Send
    /// indication before there is one. It is nil without a permission for the peer, and if the datagram is too long.
    package mutating func enclosed(_ bytes: RawSpan, to peer: TransportAddress) -> [UInt8]? {
        guard permissions[peer.ip] != nil else { return nil }
        if let channel = boundChannel(to: peer) {
            return ChannelData.encoded(bytes, channel: channel, isPadded: configuration.transport.isStream)
        }
        return try? sendIndication([UInt8](bytes), to: peer).encoded(fingerprint: false)
    }

    /// Returns the envelope of a packet for `peer`; nil without a permission for it.
    package mutating func envelope(to peer: TransportAddress) -> Envelope? {
        guard permissions[peer.ip] != nil else { return nil }
        if let channel = boundChannel(to: peer) {
            return Envelope(form: .channel(channel, isPadded: configuration.transport.isStream))
        }
        // Without data the indication ends after the header of its DATA attribute.
        guard let prefix = try? sendIndication([], to: peer).encoded(fingerprint: false) else { return nil }
        return Envelope(form: .indication(prefix))
    }

    private mutating func sendIndication(_ data: [UInt8], to peer: TransportAddress) -> STUNMessage {
        STUNMessage(
            .indication, method: .send, transactionID: TransactionID(using: &generator),
            attributes: [.xorPeerAddress(peer), .data(data)])
    }

    /// Requests a channel for `peer`, unless it has one. The overhead is then four bytes per packet (RFC 8656 §12).
    package mutating func bind(_ peer: TransportAddress, now: Instant) {
        // A number is used only once, since the server can keep its former binding for minutes (RFC 8656 §12.1).
        guard isAllocated, permissions[peer.ip] != nil, channels[peer] == nil, channels.count < configuration.peerLimit,
            let number = ChannelNumber(rawValue: nextChannel)
        else { return }
        nextChannel += 1
        channels[peer] = Channel(number: number)
        channelPeers[number] = peer
        request(.channel(peer), now: now)
        updateDeadline()
    }

    mutating func refusePermission(_ ip: IPAddress, _ error: ErrorCode?) {
        guard permissions[ip] != nil else { return }
        revoke(ip)
        emit(.permissionRefused(ip, error))
    }

    mutating func refuseChannel(_ peer: TransportAddress) {
        channels[peer]?.isBound = false
    }

    /// Handles data on a channel, which can arrive before the response to its binding.
    mutating func handleChannelData(_ bytes: RawSpan) -> RelayedData? {
        guard let data = ChannelData(parsing: bytes), let peer = channelPeers[data.channel], isAllocated else {
            statistics.ignoredMessages += 1
            return nil
        }
        return RelayedData(peer: peer, payload: data.payload)
    }

    /// Handles a Data indication. Only data from permitted peers is accepted (RFC 8656 §11.4).
    mutating func handleIndication(_ message: STUNMessage, _ bytes: RawSpan) -> RelayedData? {
        guard message.method == .data, let peer = message.peerAddress, isAllocated, permissions[peer.ip] != nil,
            message.unknownRequiredAttributes.isEmpty
        else {
            statistics.ignoredMessages += 1
            return nil
        }
        if let payload = STUNMessage.range(of: .data, in: bytes) { return RelayedData(peer: peer, payload: payload) }
        if let error = message.icmp {
            emit(.peerUnreachable(peer, error))
        } else {
            statistics.ignoredMessages += 1
        }
        return nil
    }
}
