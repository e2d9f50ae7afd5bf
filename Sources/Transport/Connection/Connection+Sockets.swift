internal import Glibc
internal import Logging
internal import NIOCore
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareWireFormat

/// Received data and failures of the sockets.
extension Connection {
    /// The delay before a socket that the system closed is reopened.
    private static var reopenDelay: TimeAmount { .milliseconds(250) }

    func listenToSockets() {
        sockets.owner = ConnectionSockets.Owner(
            receive: { [weak self] bytes, source, local, transport in
                self?.assumeIsolated { $0.receive(&bytes, from: source, to: local, over: transport) }
            },
            fail: { [weak self] endpoint, reason in
                self?.assumeIsolated { $0.streamDidEnd(endpoint, reason: reason) }
            },
            close: { [weak self] address in
                self?.assumeIsolated { $0.socketDidClose(address) }
            },
            refuse: { [weak self] source, destination in
                self?.assumeIsolated { $0.datagramRefused(from: source, to: destination) }
            },
            setting: { [weak self] endpoint in
                self?.assumeIsolated { $0.setting(for: endpoint) }
            },
            isProven: { [weak self] endpoint in
                self?.assumeIsolated { $0.peer.isProven(endpoint.destination, atListener: endpoint.base) } ?? false
            },
            writable: { [weak self] in self?.assumeIsolated { $0.drain() } },
            mediaStream: { [weak self] in
                self?.assumeIsolated { $0.peer.mediaStream.map(DedicatedSocket.Endpoint.init) } ?? nil
            },
            fragments: { [weak self] in self?.assumeIsolated { $0.peer.usernameFragments } ?? [] })
    }

    func joinSharedPort(_ port: SharedPort) {
        sockets.join(
            port.lease(
                receive: { [weak self] bytes, source, local in
                    self?.assumeIsolated { $0.receive(&bytes, from: source, to: local, over: .udp) }
                },
                take: { [weak self] stream in
                    guard let self else { return stream.close() }
                    self.assumeIsolated { $0.sockets.take(stream) }
                },
                change: { [weak self] change in self?.assumeIsolated { $0.sharedPortDid(change) } }))
        for address in localAddresses { addSharedAddress(address) }
    }

    /// Adds an address of a shared port, with its listener if there is one.
    func addSharedAddress(_ address: TransportAddress) {
        peer.addLocalAddress(address, now: MonotonicClock.now)
        addForwardedAddress(to: BaseAddress(address))
        guard configuration.acceptsTCP, let listener = sockets.listener(at: address.ip) else { return }
        peer.addListener(listener, now: MonotonicClock.now)
        addForwardedAddress(to: BaseAddress(listener, over: .tcp))
    }

    private func addForwardedAddress(to base: BaseAddress) {
        guard let outside = sockets.forwardedAddress(to: base) else { return }
        peer.addForwardedAddress(outside, to: base, now: MonotonicClock.now)
    }

    /// Accepts TCP connections at the address of a socket, if the configuration allows them. With a port of the system's
    /// choice, another program can have the same one for TCP. Then this address accepts none.
    func listen(at local: TransportAddress) async throws {
        guard configuration.acceptsTCP, configuration.iceTransportPolicy == .all else { return }
        do {
            try await sockets.listen(at: local)
        } catch let error as IOError {
            if error.errnoCode == EADDRINUSE, configuration.port != 0 { throw ConnectionError.portTaken(local, .tcp) }
            return logger.info("no TCP at \(local): \(SocketFailure.reason(of: error))")
        }
        peer.addListener(local, now: MonotonicClock.now)
    }

    /// Routes checks with the current user name fragments to this connection, if the port is shared.
    func registerFragments() {
        sockets.register(fragments: peer.usernameFragments)
    }

    private func receive(
        _ bytes: inout ByteBuffer, from source: TransportAddress, to local: TransportAddress,
        over transport: TransportProtocol
    ) {
        guard !isClosed else { return }
        let now = MonotonicClock.now
        bytes.withUnsafeMutableReadableBytes { peer.handle($0, from: source, to: local, over: transport, now: now) }
        drain(now: now)
    }

    private func datagramRefused(from source: TransportAddress, to destination: TransportAddress) {
        guard !isClosed else { return }
        peer.transmitFailed(from: source, to: destination, now: MonotonicClock.now)
        drain()
    }

    /// Returns the parameters of a stream to a server or a peer.
    private func setting(for endpoint: DedicatedSocket.Endpoint) -> DedicatedSocket.Setting? {
        guard
            let framing = peer.framing(
                of: endpoint.destination, from: endpoint.base, over: endpoint.transport)
        else { return nil }
        servers.streamDidBegin(endpoint)
        var setting = DedicatedSocket.Setting(framing: framing, trustRoots: configuration.trustRoots)
        if endpoint.transport == .tls,
            let (server, domain) = peer.server(at: endpoint.destination, over: endpoint.transport)
        {
            setting.host = domain ?? configuration.iceServers.first { $0.description == server.url }?.host
        }
        return setting
    }

    private func streamDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        guard !isClosed else { return }
        let transport = endpoint.transport.rawValue.uppercased()
        logger.info("\(transport) from \(endpoint.base.ip) to \(endpoint.destination) ended: \(reason)")
        servers.streamDidEnd(endpoint, reason: reason)
        peer.transmitFailed(
            from: endpoint.base, to: endpoint.destination, over: endpoint.transport, now: MonotonicClock.now)
        drain()
    }

    /// Reopens a socket that SwiftNIO has closed because it can't be read any more. The address may return; until then
    /// ICE gets no answers on it.
    private func socketDidClose(_ address: TransportAddress) {
        guard !isClosed, peer.localAddresses.contains(address) else { return }
        logger.info("the socket at \(address) was closed by the system; opening it again")
        eventLoop.assumeIsolated().scheduleTask(in: Self.reopenDelay) { [weak self] in
            guard let self else { return }
            Task { await self.reopen(address) }
        }
    }

    private func reopen(_ address: TransportAddress) async {
        guard !isClosed, peer.localAddresses.contains(address), sockets.datagrams[address] == nil else { return }
        do {
            _ = try await sockets.open(at: address)
            // Its interface may have been removed in the meantime.
            guard peer.localAddresses.contains(address) else { return sockets.remove(address) }
            drain()
        } catch {
            socketDidClose(address)
        }
    }
}
