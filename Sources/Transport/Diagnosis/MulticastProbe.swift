internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RTCShareICE
internal import RTCShareWireFormat

/// Finds out whether multicast DNS works on this machine: asks for a name that only this process knows, and listens for
/// the question as a responder does (RFC 6762).
actor MulticastProbe {
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    private nonisolated let eventLoop: any EventLoop
    private let logger: Logger
    private let name: MulticastDNSName
    private var channels: [any Channel] = []
    private var waiter: CheckedContinuation<Bool, Never>?

    init?(eventLoop: any EventLoop, logger: Logger) {
        let digits = String(UInt64.random(in: 1 << 32...UInt64.max), radix: 16)
        guard let name = MulticastDNSName("rtcshare-doctor-\(digits).local") else { return nil }
        self.eventLoop = eventLoop
        self.logger = logger
        self.name = name
    }

    /// Returns whether the question is received: a datagram sent through an interface is also delivered to listeners
    /// there.
    func run() async -> Bool {
        for group in [MulticastDNSMessage.groupV4, MulticastDNSMessage.groupV6] {
            do {
                try await listen(to: group)
            } catch {
                logger.info("no multicast DNS in the group \(group): \(error)")
            }
        }
        guard !channels.isEmpty else { return false }
        let client = MulticastDNSClient(eventLoop: eventLoop, logger: logger)
        let search = Task { [name] in
            await client.resolve([name.description]) { _, _ in }
            // There was no answer to three questions.
            finish(false)
        }
        let wasHeard = await withCheckedContinuation { waiter = $0 }
        search.cancel()
        await search.value
        for channel in channels { try? await channel.close() }
        return wasHeard
    }

    private func finish(_ wasHeard: Bool) {
        waiter?.resume(returning: wasHeard)
        waiter = nil
    }

    private func listen(to group: TransportAddress) async throws {
        let anyAddress = try SocketAddress(ipAddress: group.ip.isV4 ? "0.0.0.0" : "::", port: Int(group.port))
        let channel = try await DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_reuseaddr), value: 1)
            .channelOption(.socket(SocketOptionLevel(SOL_SOCKET), SO_REUSEPORT), value: 1)
            .bind(
                to: anyAddress,
                channelInitializer: DatagramHandler.initializer { [weak self] eventLoop in
                    let handler = DatagramHandler(on: eventLoop)
                    handler.listener = DatagramHandler.Listener(receive: { bytes, _ in
                        self?.assumeIsolated { $0.receive(bytes) }
                    })
                    return handler
                })
        channels.append(channel)
        guard let multicast = channel as? any MulticastChannel else { return }
        // Each interface joins once, however many addresses it has.
        var joined: Set<Int> = []
        for device in try System.enumerateDevices() where device.multicastSupported {
            guard let address = device.address.flatMap(IPAddress.init), address.isV4 == group.ip.isV4,
                !address.isLoopback, joined.insert(device.interfaceIndex).inserted
            else { continue }
            do {
                try await multicast.joinGroup(try group.socketAddress, device: device).get()
            } catch {
                logger.info("no multicast DNS on \(device.name) (\(address)): \(error)")
            }
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        guard let message = try? MulticastDNSMessage(parsing: bytes.readableBytesSpan), !message.isResponse,
            message.questions.contains(where: { $0.name == name })
        else { return }
        finish(true)
    }
}
