import RTCShareSTUN
package import RTCShareWireFormat

/// A received message without the framing of relays and streams.
package enum Unwrapped: Hashable, Sendable {
    /// A message from a peer or a STUN server to a base: STUN for ``Agent/handle(message:from:to:now:)``, or
    /// application data. `payload` is its range in the received bytes.
    case message(from: TransportAddress, to: BaseAddress, payload: Range<Int>)
    /// A TURN server's own message, which the agent has processed, or a message that this route does not allow.
    case consumed
}

extension Agent {
    /// Unwraps bytes that arrived at the socket `local`, or over a stream from there, into a message from a remote
    /// address to one of our bases. Only bytes from a server of ours, over its transport, count as a relay's.
    package mutating func unwrap(
        _ bytes: RawSpan, from source: TransportAddress, to local: TransportAddress,
        over transport: TransportProtocol = .udp, now: Instant
    ) -> Unwrapped {
        if !asked.relays.isEmpty, Self.isRelaysOwn(bytes),
            let index = asked.relays.index(of: source, at: local, over: transport)
        {
            return unwrap(bytes, of: index, from: source, now: now)
        }
        switch transport {
        case .udp:
            // Servers send to sockets that the peer must not see.
            guard
                configuration.iceTransportPolicy == .all
                    || asked.relays.index(of: source, at: local, over: .udp) != nil
            else { break }
            return .message(from: source, to: BaseAddress(local), payload: 0..<bytes.byteCount)
        case .tcp:
            guard let base = locals.base(at: BaseAddress(local, over: .tcp)),
                base.tcpType == .passive || isStreamPeer(source)
            else { break }
            return .message(from: source, to: base.id, payload: 0..<bytes.byteCount)
        case .tls: break
        }
        statistics.ignoredMessages += 1
        return .consumed
    }

    /// Whether bytes are ChannelData or a message of TURN. A Binding response is from a server that is also a STUN
    /// server.
    private static func isRelaysOwn(_ bytes: RawSpan) -> Bool {
        guard STUNMessage.isSTUN(bytes) else { return ChannelData.isChannelData(bytes) }
        var reader = ByteReader(bytes)
        guard let type = try? reader.readUInt16() else { return false }
        return type & ~MessageClass.errorResponse.rawValue != Method.binding.rawValue
    }

    private mutating func unwrap(
        _ bytes: RawSpan, of index: Int, from source: TransportAddress, now: Instant
    ) -> Unwrapped {
        guard isActive else { return .consumed }
        let data = asked.relays[index].handle(bytes, from: source, now: now)
        guard let data else {
            advance(now: now)
            return .consumed
        }
        guard let relayed = asked.relays[index].relayed else { return .consumed }
        return .message(from: data.peer, to: BaseAddress(relayed), payload: data.payload)
    }

    /// Returns the framing of a stream from `base` to `destination`; nil if this agent opens none.
    package func framing(
        of destination: TransportAddress, from base: TransportAddress, over transport: TransportProtocol
    ) -> StreamFraming? {
        if server(at: destination, over: transport) != nil { return .turn }
        guard transport == .tcp, locals.base(at: BaseAddress(base, over: .tcp))?.tcpType == .active else { return nil }
        return isStreamPeer(destination) ? .lengthPrefixed : nil
    }

    /// Returns the TURN server of a stream, as passed to ``gather(servers:now:)``. After a redirect its address
    /// differs, and `domain` can name the host for which the certificate of a server over TLS must be valid (RFC 8489
    /// §10).
    package func server(
        at destination: TransportAddress, over transport: TransportProtocol
    ) -> (server: ICEServerAddress, domain: String?)? {
        asked.relays.server(at: destination, over: transport)
    }

    /// Returns the route and the envelope of media; nil without a selected pair. They differ for each packet as long as
    /// a relay has no channel for the peer.
    package mutating func nextMediaPath() -> MediaPath? {
        if case .indication = path?.envelope.form { updatePath() }
        return path
    }

    /// The route of media if it is a stream; nil for datagrams, and without a selected pair.
    package var mediaStream: MediaPath? {
        guard let path, path.transport.isStream else { return nil }
        return path
    }

    /// Updates the route for the selected pair and its relay's channel.
    mutating func updatePath() {
        guard let index = checklist.selectedIndex,
            let base = locals.base(at: checklist.pairs[index].base)
        else {
            path = nil
            return
        }
        let remote = checklist.pairs[index].remote.address
        switch base.route {
        case .socket:
            path = MediaPath(base: base.address, destination: remote, transport: .udp, envelope: .none)
        case .active, .passive:
            path = MediaPath(
                base: base.address, destination: remote, transport: .tcp, envelope: Envelope(form: .length))
        case .relay(let index):
            path = asked.relays[index].mediaPath(to: remote)
        }
    }
}
