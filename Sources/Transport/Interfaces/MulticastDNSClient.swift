internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RTCShareICE
internal import RTCShareWireFormat

/// Asks the local network for the addresses of `.local` names (RFC 6762), through every interface that supports
/// multicast.
///
/// Responders answer to the group, so each socket is bound to mDNS's own port, together with its other users.
actor MulticastDNSClient {
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    private nonisolated let eventLoop: any EventLoop
    private let logger: Logger
    private var resolver = MulticastDNSResolver()
    private var sockets: [(channel: any Channel, group: TransportAddress)] = []
    private var found: (String, IPAddress) -> Void = { _, _ in }
    private var finish: CheckedContinuation<Void, Never>?
    private var timer: Scheduled<Void>?

    init(eventLoop: any EventLoop, logger: Logger) {
        self.eventLoop = eventLoop
        self.logger = logger
    }

    /// Resolves `names`, calls `found` with each address, and returns when every name is resolved or has timed out, or
    /// the task is canceled.
    func resolve(_ names: Set<String>, found: @escaping @Sendable (String, IPAddress) -> Void) async {
        self.found = found
        await openSockets()
        guard !sockets.isEmpty else { return }
        let now = MonotonicClock.now
        for text in names {
            guard let name = MulticastDNSName(text) else { continue }
            _ = resolver.resolve(name, now: now)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                finish = continuation
                advance()
            }
        } onCancel: {
            Task { await self.end() }
        }
        for socket in sockets { try? await socket.channel.close() }
        sockets = []
    }

    private func openSockets() async {
        let devices = ((try? System.enumerateDevices()) ?? []).filter { $0.multicastSupported }
        var seen: Set<String> = []
        for device in devices {
            guard let address = device.address.flatMap(IPAddress.init), !address.isLoopback,
                seen.insert("\(device.interfaceIndex) \(address.isV4)").inserted
            else { continue }
            let group = address.isV4 ? MulticastDNSMessage.groupV4 : MulticastDNSMessage.groupV6
            do {
                sockets.append((try await open(on: device, group: group), group))
            } catch {
                logger.info("no multicast DNS on \(device.name) (\(address)): \(error)")
            }
        }
    }

    private func open(on device: NIONetworkDevice, group: TransportAddress) async throws -> any Channel {
        let anyAddress = try SocketAddress(
            ipAddress: group.ip.isV4 ? "0.0.0.0" : "::", port: Int(MulticastDNSMessage.port))
        let channel = try await bind(to: anyAddress)
        do {
            try await join(group, on: device, channel)
            return channel
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private func bind(to address: SocketAddress) async throws -> any Channel {
        try await DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.socket(SocketOptionLevel(SOL_SOCKET), SO_REUSEPORT), value: 1)
            .bind(
                to: address,
                channelInitializer: DatagramHandler.initializer { [weak self] eventLoop in
                    let handler = DatagramHandler(on: eventLoop)
                    handler.listener = DatagramHandler.Listener(receive: { bytes, _ in
                        self?.assumeIsolated { $0.receive(bytes) }
                    })
                    return handler
                })
    }

    private func join(_ group: TransportAddress, on device: NIONetworkDevice, _ channel: any Channel) async throws {
        guard let multicast = channel as? any MulticastChannel else { return }
        try await multicast.joinGroup(try group.socketAddress, device: device).get()
        switch device.address.flatMap(IPAddress.init) {
        case .v4(let address):
            // SwiftNIO passes the option as eight bytes, which are an `ip_mreq` (ip(7)): the group, which is ignored,
            // and the interface's address, both in network order.
            let request =
                [UInt8](repeating: 0, count: 4) + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: address >> $0) }
            let value = request.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
            try await channel.setOption(.ipOption(.ip_multicast_if), value: value).get()
        case .v6, nil:
            let level = NIOBSDSocket.OptionLevel.ipv6
            let option = ChannelOptions.Types.SocketOption(level: level, name: .ipv6_multicast_if)
            try await channel.setOption(option, value: device.interfaceIndex).get()
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        resolver.handle(datagram: bytes.readableBytesSpan, now: MonotonicClock.now)
        advance()
    }

    private func timerDidFire() {
        resolver.handleTimeout(now: MonotonicClock.now)
        advance()
    }

    private func advance() {
        guard finish != nil else { return }
        while let query = resolver.pollTransmit() {
            for socket in sockets {
                guard let destination = try? socket.group.socketAddress else { continue }
                let envelope = AddressedEnvelope(remoteAddress: destination, data: ByteBuffer(bytes: query))
                socket.channel.writeAndFlush(envelope, promise: nil)
            }
        }
        while let event = resolver.pollEvent() {
            switch event {
            case .resolved(let name, let address): found(name.description, address)
            case .unresolved(let name): logger.info("nobody knows the name \(name)")
            }
        }
        guard let deadline = resolver.nextDeadline else { return end() }
        // A single timer, because each datagram of the group comes here.
        timer?.cancel()
        timer = eventLoop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(UInt64(max(0, deadline.nanoseconds)))
        ) { [weak self] in
            self?.assumeIsolated { $0.timerDidFire() }
        }
    }

    private func end() {
        timer?.cancel()
        timer = nil
        finish?.resume()
        finish = nil
    }
}
