package import RTCShareCongestionControl
package import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Processes a datagram that arrived at the socket `local`, or a whole message of a stream from its address. The
    /// memory is decrypted in place.
    package mutating func handle(
        _ message: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        over transport: TransportProtocol = .udp, now: Instant
    ) {
        counts.packetsReceived += 1
        counts.bytesReceived += UInt64(message.count)
        guard !state.isOver else { return }
        switch ice.agent.unwrap(
            UnsafeRawBufferPointer(message).bytes, from: source, to: local, over: transport, now: now)
        {
        case .message(let peer, let base, let payload):
            receive(UnsafeMutableRawBufferPointer(rebasing: message[payload]), from: peer, to: base, now: now)
        case .consumed:
            advance(now: now)
        }
    }

    /// Processes a message from a peer or a STUN server to one of the agent's bases.
    private mutating func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to base: BaseAddress,
        now: Instant
    ) {
        let bytes = UnsafeRawBufferPointer(datagram).bytes
        let isTaken: Bool
        switch DatagramKind(bytes) {
        case .stun: isTaken = ice.agent.handle(message: bytes, from: source, to: base, now: now)
        case .dtls: isTaken = receiveHandshake(bytes, from: source, to: base, now: now)
        case .rtp: isTaken = receiveMedia(datagram, now: now)
        case .rtcp: isTaken = receiveControl(datagram, now: now)
        case .zrtp, .turnChannel, .unknown:
            counts.packetsUnknown += 1
            isTaken = false
        }
        // Messages from strangers must not advance the connection.
        if isTaken { advance(now: now) }
    }

    /// Does everything that is due. Early calls have no effect.
    package mutating func handleTimeout(now: Instant) {
        guard !state.isOver else { return }
        // Most timeouts are the pacer's, many per second. The agent's own deadline is valid after each of its inputs.
        if let due = ice.agent.nextDeadline, due <= now { ice.agent.handleTimeout(now: now) }
        // Without a route a flight waits: its retransmissions would all be sent at once later.
        if path.isThere { handle(transport.handleTimeout(now: now), now: now) }
        advance(now: now)
    }

    /// Handles the system's failure to send from a socket to a destination, or to open a stream, or the end of a
    /// stream: ICE uses other pairs.
    package mutating func transmitFailed(
        from source: TransportAddress, to destination: TransportAddress, over transport: TransportProtocol = .udp,
        now: Instant
    ) {
        ice.agent.transmitFailed(base: source, destination: destination, over: transport, now: now)
        advance(now: now)
    }

    /// Sends a consent check as soon as the last answer is not recent. If the peer does not answer, the state is ``ConnectionState/disconnected`` in two
    /// seconds.
    package mutating func checkConsent(now: Instant) {
        guard state == .connected else { return }
        ice.agent.checkConsent(now: now)
        advance(now: now)
    }

    /// Adds a time in which this machine was suspended to the age of the peer's consent, which may have expired.
    package mutating func wasSuspended(for time: Duration, now: Instant) {
        guard !state.isOver else { return }
        ice.agent.wasSuspended(for: time, now: now)
        advance(now: now)
    }

    /// Returns the framing of a stream from `base` to `destination`; nil if no stream should be opened there.
    package func framing(
        of destination: TransportAddress, from base: TransportAddress, over transport: TransportProtocol
    ) -> StreamFraming? {
        ice.agent.framing(of: destination, from: base, over: transport)
    }

    /// Whether a message of a TCP connection from `source` to a listener has shown that the peer opened it.
    package func isProven(_ source: TransportAddress, atListener address: TransportAddress) -> Bool {
        ice.agent.isProven(source, at: BaseAddress(address, over: .tcp))
    }

    /// Returns the TURN server of a stream, as passed to ``gather(servers:now:)``. After a redirect its address
    /// differs, and `domain` can name the host for which the certificate of a server over TLS must be valid.
    package func server(
        at destination: TransportAddress, over transport: TransportProtocol
    ) -> (server: ICEServerAddress, domain: String?)? {
        ice.agent.server(at: destination, over: transport)
    }

    /// Returns the time of the next ``handleTimeout(now:)``; nil if there is none.
    package func nextDeadline(now: Instant) -> Instant? {
        guard !state.isOver else { return nil }
        var deadline = Instant.distantFuture
        // An array of the deadlines would be allocated for every group of packets.
        if let due = ice.agent.nextDeadline { deadline = min(deadline, due) }
        if path.isThere, let due = transport.nextDeadline { deadline = min(deadline, due) }
        for index in outbound.indices where outbound[index].isActive {
            if let due = outbound[index].nextReport { deadline = min(deadline, due) }
        }
        if canSend, !path.isFull, let due = bandwidth.pacer.nextDeadline(now: now) { deadline = min(deadline, due) }
        if hasLayerQueues {
            for index in outbound.indices {
                if let due = outbound[index].video?.layerQueue?.nextDeadline(now: now) { deadline = min(deadline, due) }
            }
        }
        if let due = bandwidth.estimator.nextDeadline {
            deadline = min(deadline, due.advanced(by: Self.estimatorPatience))
        }
        if let due = receivers.nextDeadline(now: now) { deadline = min(deadline, due) }
        return deadline == .distantFuture ? nil : deadline
    }

    /// The delay of the estimator's own timeouts. Every input also processes the estimator, which avoids most of its
    /// timeouts while many frames are sent.
    private static var estimatorPatience: Duration { .milliseconds(15) }

    /// The stream that carries media, to the peer or to a relay; nil for datagrams. The owner sets ``isStreamFull``.
    package var mediaStream: MediaPath? { ice.agent.mediaStream }

    /// Whether the stream that carries media has no room. Media wait until it has, in the pacer's queue, which the
    /// encoders follow.
    package var isStreamFull: Bool {
        get { path.isFull }
        set { path.isFull = newValue }
    }

    /// Whether a report of ``mediaStream`` is due, which must lead to the peer.
    package func isStreamReportDue(now: Instant) -> Bool { bandwidth.stream?.isDue(now: now) == true }

    /// Handles a report of ``mediaStream``.
    package mutating func handle(_ progress: StreamProgress, now: Instant) {
        bandwidth.receive(progress, now: now)
        applyBandwidth(now: now)
    }

    /// Whether packets can be sent: there are a route and keys.
    var canSend: Bool { path.isThere && transport.outbound != nil }

    /// Follows ICE, reports changes, and queues RTCP packets. Every input ends with this call.
    mutating func advance(now: Instant) {
        handleAgentEvents(now: now)
        if !receivers.media.isEmpty, let trip = ice.agent.selectedRoundTripTime { receivers.setRoundTripTime(trip) }
        receivers.poll(isConnected: state == .connected, now: now, into: &events)
        queueControl(now: now)
        releaseLayers(now: now)
        passOnKeyFrameRequests()
        applyBandwidth(now: now)
    }

    private mutating func handleAgentEvents(now: Instant) {
        while let event = ice.agent.pollEvent() {
            switch event {
            case .selectedPair(let pair):
                if !path.isThere { requestKeyFrames() }
                let wasStream = path.isStream
                if path.select(pair) {
                    // An ended TCP connection leaves unknown packets behind, and lost ones are not resent over TCP.
                    if wasStream || path.isStream || bandwidth.isUnanswered(now: now) { beginAgain() }
                    if transport.outbound != nil || path.isStream || wasStream {
                        bandwidth.pathChanged(isStream: path.isStream, now: now)
                        for index in outbound.indices { outbound[index].video?.requestedLoss = RequestedLoss() }
                    }
                }
                if let trip = ice.agent.selectedRoundTripBound { transport.setRoundTripTime(trip) }
                handle(transport.start(now: now), now: now)
            case .stateChanged(.disconnected), .stateChanged(.checking):
                guard state == .connected else { continue }
                change(to: .disconnected)
                bandwidth.estimator.networkUnavailable(now: now)
            case .stateChanged(.connected):
                guard state == .disconnected else { continue }
                change(to: .connected)
                beginAgain()
                bandwidth.estimator.networkAvailable(now: now)
            case .stateChanged(.failed):
                fail(path.changes == 0 ? .unreachable : .consentExpired)
            case .gatheringComplete:
                guard !ice.moreServersFollow else { continue }
                events.append(.gatheringComplete)
                signalEndOfCandidates()
            case .serverFailed(let failure):
                events.append(.serverFailed(failure))
            case .candidateGathered(let candidate):
                trickle(candidate)
            case .restartNeeded:
                events.append(.restartNeeded)
            case .stateChanged, .roleChanged:
                continue
            }
        }
        if path.isThere, !ice.agent.hasSelectedPair { path.lose() }
    }

    /// Restarts media after an interruption: a key frame shows more than all missed packets, and arrives earlier.
    private mutating func beginAgain() {
        guard transport.outbound != nil else { return }
        for index in outbound.indices { outbound[index].video?.history.removeAll() }
        requestKeyFrames()
    }

    private mutating func handle(_ outcome: SecureMediaTransport.Outcome, now: Instant) {
        switch outcome {
        case .nothing: return
        case .connected:
            change(to: .connected)
            bandwidth.estimator.networkAvailable(now: now)
        case .failed(let reason): fail(.insecure(reason: reason))
        case .closedByPeer: peerDidLeave()
        }
    }

    /// Processes a datagram of the handshake. DTLS authenticates the sender only at its end, and forged datagrams can
    /// break the handshake. So this accepts it only from an address that an authentic check, or the answer to one of
    /// ours, has proven. An announced candidate is not enough, since addresses can be guessed.
    private mutating func receiveHandshake(
        _ bytes: RawSpan, from source: TransportAddress, to base: BaseAddress, now: Instant
    ) -> Bool {
        guard ice.agent.isProven(source, at: base) else {
            counts.packetsRefused += 1
            return false
        }
        guard transport.dtls == nil else {
            handle(transport.handle(datagram: bytes, now: now), now: now)
            return true
        }
        let copy = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
        if !transport.keep(.init(bytes: copy, source: source, base: base)) { counts.packetsRefused += 1 }
        return false
    }

    /// Processes the datagrams that arrived before the peer's description.
    mutating func receiveEarlyDatagrams(now: Instant) {
        for datagram in transport.takeEarly() {
            _ = receiveHandshake(datagram.bytes.span.bytes, from: datagram.source, to: datagram.base, now: now)
        }
    }

    private mutating func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, now: Instant) -> Bool {
        guard let keys = transport.inbound else {
            counts.packetsRefused += 1
            return false
        }
        // SRTP keeps a stream for each accepted source, so that only packets of useful sources are decrypted.
        let protected = UnsafeRawBufferPointer(datagram).bytes
        guard let clear = try? RTPHeader(protected: protected), let route = receivers.route(of: clear, in: protected)
        else {
            counts.packetsUnknown += 1
            return false
        }
        guard let count = try? keys.unprotectRTP(datagram, sparing: { isInUse($0) }) else {
            counts.packetsRefused += 1
            return false
        }
        transport.peerIsThrough()
        let packet = UnsafeRawBufferPointer(rebasing: datagram[..<count]).bytes
        guard let header = try? RTPHeader(parsing: packet) else {
            counts.packetsUnknown += 1
            return true
        }
        if !receivers.receive(header, in: packet, on: route, now: now) {
            counts.packetsUnknown += 1
        }
        return true
    }

    /// Whether the peer sends or reports as a source.
    private func isInUse(_ source: UInt32) -> Bool {
        let source = SynchronizationSource(source)
        return control.reporters.contains(source) || receivers.isSource(source)
    }

    private mutating func receiveControl(_ datagram: UnsafeMutableRawBufferPointer, now: Instant) -> Bool {
        guard let keys = transport.inbound,
            let count = try? keys.unprotectRTCP(datagram, sparing: { isInUse($0) })
        else {
            counts.packetsRefused += 1
            return false
        }
        transport.peerIsThrough()
        receiveControl(UnsafeRawBufferPointer(rebasing: datagram[..<count]).bytes, now: now)
        return true
    }
}
