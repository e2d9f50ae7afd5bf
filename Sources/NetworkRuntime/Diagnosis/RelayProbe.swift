internal import ICE
internal import NIOCore
internal import NIOPosix
internal import STUN
internal import WireFormat

/// Asks a TURN server for a relayed address over UDP or TCP, and gives it back at once.
actor RelayProbe {
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    struct Relay: Sendable {
        let relayed: TransportAddress
        let reflexive: TransportAddress
        let time: Duration
    }

    private nonisolated let eventLoop: any EventLoop
    private var allocation: TURNAllocation
    private var framer = StreamFramer()
    private let transport: WireFormat.TransportProtocol
    private let server: TransportAddress
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private var started = Instant(nanoseconds: 0)
    private var relay: Relay?
    private var waiter: CheckedContinuation<Result<Relay, TURNError>, Never>?

    private static let patience = Duration.seconds(5)

    init(
        _ server: TransportAddress, over transport: WireFormat.TransportProtocol, credentials: LongTermCredentials,
        eventLoop: any EventLoop
    ) {
        self.eventLoop = eventLoop
        self.server = server
        self.transport = transport
        var configuration = TURNConfiguration(
            server: server, transport: transport, credentials: credentials, family: server.ip.isV4 ? .v4 : .v6)
        // A person waits: three times within five seconds is enough to call it silence.
        configuration.timing.transmissions = 3
        configuration.timing.finalWait = 5
        configuration.timing.streamTimeout = Self.patience
        allocation = TURNAllocation(configuration: configuration, generator: SystemRandomNumberGenerator())
    }

    /// The relayed address, or why there is none.
    func run(from base: IPAddress) async -> Result<Relay, TURNError> {
        do {
            channel = transport == .udp ? try await openDatagrams(at: base) : try await connect(from: base)
        } catch {
            return .failure(.connectionLost(transport))
        }
        started = MonotonicClock.now
        allocation.start(now: started)
        let result = await withCheckedContinuation { continuation in
            waiter = continuation
            advance()
        }
        timer?.cancel()
        try? await channel?.close()
        return result
    }

    private func openDatagrams(at base: IPAddress) async throws -> any Channel {
        var routes = RouteProbe()
        guard routes.hasRoute(from: base, to: server, now: MonotonicClock.now) else {
            throw ConnectionError.addressUnusable(server, reason: "no route")
        }
        return try await DatagramSocket.open(
            at: TransportAddress(ip: base, port: 0), on: eventLoop,
            receive: { [weak self] bytes, source in self?.assumeIsolated { $0.receive(bytes, from: source) } },
            closed: { [weak self] in self?.assumeIsolated { $0.channelDidClose() } }
        ).channel
    }

    private func connect(from base: IPAddress) async throws -> any Channel {
        try await ClientBootstrap(group: eventLoop)
            .connectTimeout(.seconds(5))
            .bind(to: TransportAddress(ip: base, port: 0).socketAddress)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        StreamHandler(
                            receive: { [weak self] bytes in self?.assumeIsolated { $0.receive(stream: bytes) } },
                            closed: { [weak self] in self?.assumeIsolated { $0.channelDidClose() } }))
                }
            }
            .connect(to: server.socketAddress).get()
    }

    private func receive(_ bytes: ByteBuffer, from source: TransportAddress) {
        _ = allocation.handle(bytes.readableBytesSpan, from: source, now: MonotonicClock.now)
        advance()
    }

    private func receive(stream bytes: ByteBuffer) {
        framer.append(bytes.readableBytesSpan)
        do {
            while let message = try framer.next() {
                _ = allocation.handle(message.span.bytes, from: server, now: MonotonicClock.now)
            }
        } catch {
            allocation.transportFailed(now: MonotonicClock.now)
        }
        advance()
    }

    private func channelDidClose() {
        allocation.transportFailed(now: MonotonicClock.now)
        advance()
    }

    private func advance() {
        while let transmit = allocation.pollTransmit() {
            let bytes = ByteBuffer(bytes: transmit.bytes)
            if transport == .udp, let destination = try? transmit.server.socketAddress {
                channel?.writeAndFlush(AddressedEnvelope(remoteAddress: destination, data: bytes), promise: nil)
            } else {
                channel?.writeAndFlush(bytes, promise: nil)
            }
        }
        while let event = allocation.pollEvent() {
            switch event {
            case .allocated(let relayed, let reflexive):
                relay = Relay(relayed: relayed, reflexive: reflexive, time: MonotonicClock.now - started)
                // Others may want the port.
                allocation.release(now: MonotonicClock.now)
                return advance()
            case .failed(let error): finish(relay.map { .success($0) } ?? .failure(error))
            case .released: if let relay { finish(.success(relay)) }
            case .redirected(_, _) where transport != .udp: finish(.failure(.redirectedInCircles))
            case .redirected, .permissionRefused, .peerUnreachable: break
            }
        }
        timer?.cancel()
        guard waiter != nil, let deadline = allocation.nextDeadline else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(UInt64(max(0, deadline.nanoseconds)))
        ) { [weak self] in
            self?.assumeIsolated {
                $0.allocation.handleTimeout(now: MonotonicClock.now)
                $0.advance()
            }
        }
    }

    private func finish(_ result: Result<Relay, TURNError>) {
        waiter?.resume(returning: result)
        waiter = nil
    }
}

/// Tells the owner of a connection what came over it.
private final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let receive: @Sendable (ByteBuffer) -> Void
    private let closed: @Sendable () -> Void

    init(receive: @escaping @Sendable (ByteBuffer) -> Void, closed: @escaping @Sendable () -> Void) {
        self.receive = receive
        self.closed = closed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { receive(unwrapInboundIn(data)) }
    func channelInactive(context: ChannelHandlerContext) { closed() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
