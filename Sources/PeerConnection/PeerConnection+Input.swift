internal import RTCShareCongestionControl
package import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Takes a datagram that arrived at the socket `local`, or a whole message of a stream from its address. Its memory is
    /// decrypted in place.
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

    /// Takes what a peer, or a STUN server, sent to one of the agent's bases.
    private mutating func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to base: TransportAddress,
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
        // What strangers send costs no more than it takes to refuse it.
        if isTaken { advance(now: now) }
    }

    /// Does what is due. Too early a call does nothing.
    package mutating func handleTimeout(now: Instant) {
        guard !state.isOver else { return }
        // Most timeouts are the pacer's, many a second; the agent's own deadline holds after each of its inputs.
        if let due = ice.agent.nextDeadline, due <= now { ice.agent.handleTimeout(now: now) }
        // Without a path a flight can only wait: repeating it would have all its copies leave at once.
        if path.isThere { handle(transport.handleTimeout(now: now), now: now) }
        advance(now: now)
    }

    /// Says that the system could not send from a socket to a destination, or that a stream could not be opened or ended:
    /// ICE tries others.
    package mutating func transmitFailed(
        from source: TransportAddress, to destination: TransportAddress, over transport: TransportProtocol = .udp,
        now: Instant
    ) {
        ice.agent.transmitFailed(base: source, destination: destination, over: transport, now: now)
        advance(now: now)
    }

    /// Asks the peer now whether it still consents to be sent to; the state is ``ConnectionState/disconnected`` in two
    /// seconds if the peer does not answer.
    package mutating func checkConsent(now: Instant) {
        guard state == .connected else { return }
        ice.agent.checkConsent(now: now)
        advance(now: now)
    }

    /// How what comes over a stream to `destination` is taken apart; nil where none is to be opened there.
    package func framing(of destination: TransportAddress, over transport: TransportProtocol) -> StreamFraming? {
        ice.agent.framing(of: destination, over: transport)
    }

    /// The TURN server that a stream goes to, as it was given to ``gather(servers:now:)``: a redirection leads elsewhere,
    /// and may say the domain by which the certificate of a server over TLS is to be checked.
    package func server(
        at destination: TransportAddress, over transport: TransportProtocol
    ) -> (server: ICEServerAddress, domain: String?)? {
        ice.agent.server(at: destination, over: transport)
    }

    /// When ``handleTimeout(now:)`` is next worth calling; nil where nothing is to come.
    package func nextDeadline(now: Instant) -> Instant? {
        guard !state.isOver else { return nil }
        var deadline = Instant.distantFuture
        // One by one: an array of them would be made anew for every group of packets.
        if let due = ice.agent.nextDeadline { deadline = min(deadline, due) }
        if path.isThere, let due = transport.nextDeadline { deadline = min(deadline, due) }
        for index in outbound.indices where outbound[index].isActive {
            if let due = outbound[index].nextReport { deadline = min(deadline, due) }
        }
        if canSend, let due = bandwidth.pacer.nextDeadline(now: now) { deadline = min(deadline, due) }
        if let due = bandwidth.estimator.nextDeadline {
            deadline = min(deadline, due.advanced(by: Self.estimatorPatience))
        }
        if let due = receivers.nextDeadline(now: now) { deadline = min(deadline, due) }
        return deadline == .distantFuture ? nil : deadline
    }

    /// The estimator is looked after with every input. Where those are many, as while frames are sent, this spares most of
    /// its timeouts.
    private static var estimatorPatience: Duration { .milliseconds(15) }

    /// Whether packets can leave: there is a path, and there are keys.
    var canSend: Bool { path.isThere && transport.outbound != nil }

    /// After every input: follows ICE, reports changes, and queues what RTCP has to say.
    mutating func advance(now: Instant) {
        handleAgentEvents(now: now)
        if !receivers.media.isEmpty, let trip = ice.agent.selectedRoundTripTime { receivers.setRoundTripTime(trip) }
        receivers.poll(isConnected: state == .connected, now: now, into: &events)
        queueControl(now: now)
        passOnKeyFrameRequests()
        applyBandwidth(now: now)
    }

    private mutating func handleAgentEvents(now: Instant) {
        while let event = ice.agent.pollEvent() {
            switch event {
            case .selectedPair(let pair):
                if !path.isThere { requestKeyFrames() }
                if path.select(pair), transport.outbound != nil {
                    if bandwidth.isUnanswered(now: now) { beginAgain() }
                    bandwidth.pathChanged(now: now)
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

    /// After an interruption: a key frame shows more than all that was missed, and is there sooner.
    private mutating func beginAgain() {
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

    /// DTLS proves its sender only at its end, and what others write into a handshake could break it: it is taken only from
    /// where an authentic check, or the answer to one of ours, has shown the peer to be. A candidate that the peer has
    /// announced is not enough, for addresses can be guessed.
    private mutating func receiveHandshake(
        _ bytes: RawSpan, from source: TransportAddress, to base: TransportAddress, now: Instant
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

    /// Takes what came before the peer's description.
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
        // SRTP keeps a stream of each source that it accepts: it is asked about those alone that are of use to anybody.
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

    /// Whether the peer sends or reports in the name of a source.
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
