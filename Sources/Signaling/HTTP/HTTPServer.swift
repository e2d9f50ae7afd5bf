package import Logging
package import NIOCore
internal import NIOHTTP1
package import NIOPosix
internal import RTCShareContentShare
package import RTCShareSecureTransport
package import RTCShareTransport
package import RTCShareWireFormat

/// An HTTP server.
package struct HTTPServer: Sendable {
    /// The limits of a server.
    package struct Limits: Sendable {
        /// The maximum length of a body.
        package var bodyBytes = 128 * 1024
        /// The maximum length of a head: request line and headers.
        var headBytes = 16 * 1024
        /// The timeout for a request, the first one from the start of the connection.
        package var requestTime = Duration.seconds(10)
        /// The time for which a connection may wait for its next request. A browser whose network has changed tries its
        /// kept connections one after the other, and each takes its time to fail.
        package var idleTime = Duration.seconds(5)
        /// The time for which a client may read nothing.
        package var stallTime = Duration.seconds(20)
        /// The maximum number of connections, never more than half of the descriptors that this process may open.
        /// Beyond that, the least needed are closed.
        package var connections = 1024
        /// The maximum number of connections of one network without an accepted token, except for this machine's own.
        var strangersPerNetwork = 64

        /// The limits for one user's programs at a Unix domain socket.
        package static let ownPrograms = Limits(
            bodyBytes: 256 * 1024, stallTime: .seconds(10), connections: 16)
    }

    /// Answers a request, called directly from its connection's event loop.
    package typealias Respond = @Sendable @SharingActor (HTTPRequest) async -> HTTPResponse

    private let channels: [any Channel]
    private let limiter: ConnectionLimiter
    /// The port, the same on each address.
    package let port: UInt16

    /// Listens at the first free port of `ports` on each address, without addresses on all of this machine. `zone` is
    /// the interface of IPv6 addresses that don't have one (RFC 4007 §11). `tls` returns the context for each connection.
    /// Without it, connections are not encrypted. Connections that begin with ICE are passed to `mediaPort`, if there is
    /// one. `admit` fails for a connection that must be rejected, before anything is read.
    package static func start(
        addresses: [IPAddress], zone: String? = nil, ports: [UInt16], tls: (@Sendable () -> TLSContext)?,
        mediaPort: SharedPort? = nil, limits: Limits = Limits(),
        eventLoopGroup: MultiThreadedEventLoopGroup = .singleton, logger: Logger,
        admit: (@Sendable (any Channel) -> EventLoopFuture<Void>)? = nil, respond: @escaping Respond
    ) async throws -> HTTPServer {
        var limits = limits
        limits.connections = min(limits.connections, max(1, Self.descriptorLimit / 2))
        let limiter = ConnectionLimiter(limits: limits)
        var failure: (any Error)?
        for port in ports {
            do {
                return try await HTTPServer(addresses, zone: zone, port: port, on: eventLoopGroup, limiter: limiter) {
                    [limits] channel in
                    let prepare: @Sendable () -> EventLoopFuture<Void> = {
                        Self.prepare(
                            channel, limiter: limiter, tls: tls, mediaPort: mediaPort, limits: limits, logger: logger,
                            respond: respond)
                    }
                    return admit?(channel).flatMap { prepare() } ?? prepare()
                }
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                failure = error
            }
        }
        throw failure ?? ConnectionError.noAddress
    }

    /// Answers requests at a listening Unix domain socket. `admit` fails for a connection that must be rejected.
    package static func start(
        listening descriptor: NIOBSDSocket.Handle, limits: Limits,
        eventLoopGroup: MultiThreadedEventLoopGroup = .singleton, logger: Logger,
        admit: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>, respond: @escaping Respond
    ) async throws -> HTTPServer {
        let limiter = ConnectionLimiter(limits: limits)
        let bootstrap = bootstrap(on: eventLoopGroup) { channel in
            admit(channel).flatMap {
                prepare(channel, limiter: limiter, tls: nil, limits: limits, logger: logger, respond: respond)
            }.map {
                // An answer in progress is never canceled for another client: none is a stranger.
                limiter.update(channel) { $0.setInvited($1) }
            }
        }
        return HTTPServer(channels: [try await bootstrap.withBoundSocket(descriptor).get()], limiter: limiter, port: 0)
    }

    private init(channels: [any Channel], limiter: ConnectionLimiter, port: UInt16) {
        self.channels = channels
        self.limiter = limiter
        self.port = port
    }

    private static func bootstrap(
        on eventLoopGroup: MultiThreadedEventLoopGroup,
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ServerBootstrap {
        ServerBootstrap(group: eventLoopGroup)
            // If no descriptor is left, accepting again at once would only keep the event loop busy.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelInitializer(prepare)
    }

    private init(
        _ addresses: [IPAddress], zone: String?, port: UInt16, on eventLoopGroup: MultiThreadedEventLoopGroup,
        limiter: ConnectionLimiter,
        prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws {
        func bootstrap() -> ServerBootstrap {
            Self.bootstrap(on: eventLoopGroup, prepare: prepare)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        }
        channels =
            if addresses.isEmpty {
                [try await Self.bindToAll(bootstrap, port: port)]
            } else {
                try await Self.bind(bootstrap(), to: addresses, zone: zone, port: port)
            }
        self.port = UInt16(channels.first?.localAddress?.port ?? Int(port))
        self.limiter = limiter
    }

    /// Listens at one socket for both families, or for IPv4 if this machine has no IPv6.
    private static func bindToAll(_ bootstrap: () -> ServerBootstrap, port: UInt16) async throws -> any Channel {
        // A system can make sockets IPv6-only by default.
        let takesIPv6Alone = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
        do {
            return try await bootstrap().serverChannelOption(takesIPv6Alone, value: 0)
                .bind(to: SocketAddress(ipAddress: "::", port: Int(port))).get()
        } catch let error as IOError where error.errnoCode != EADDRINUSE {
            return try await bootstrap().bind(to: SocketAddress(ipAddress: "0.0.0.0", port: Int(port))).get()
        }
    }

    /// Listens at those of the addresses that this machine has.
    private static func bind(
        _ bootstrap: ServerBootstrap, to addresses: [IPAddress], zone: String?, port: UInt16
    ) async throws -> [any Channel] {
        var channels: [any Channel] = []
        var missing: IOError?
        do {
            for address in addresses {
                let port = channels.first?.localAddress?.port ?? Int(port)
                do {
                    let place = try Self.place(of: address, zone: zone, port: port)
                    channels.append(try await bootstrap.bind(to: place).get())
                } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
                    missing = missing ?? error
                }
            }
            if channels.isEmpty, let missing { throw missing }
            return channels
        } catch {
            for channel in channels { try? await channel.close() }
            throw error
        }
    }

    private static func place(of address: IPAddress, zone: String?, port: Int) throws -> SocketAddress {
        let place = try SocketAddress(ipAddress: address.description, port: port)
        guard let zone, case .v6(let known) = place else { return place }
        let interface = if_nametoindex(zone)
        guard interface != 0 else { throw IOError(errnoCode: ENODEV, reason: "if_nametoindex") }
        var name = known.address
        // `sin6_scope_id` is the last member of `sockaddr_in6`.
        withUnsafeMutableBytes(of: &name) { $0.storeBytes(of: interface, toByteOffset: 24, as: UInt32.self) }
        return SocketAddress(name, host: address.description)
    }

    /// The maximum number of descriptors of this process.
    private static var descriptorLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    private static func prepare(
        _ channel: any Channel, limiter: ConnectionLimiter, tls: (@Sendable () -> TLSContext)?,
        mediaPort: SharedPort? = nil, limits: Limits, logger: Logger, respond: @escaping Respond
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard limiter.admit(channel) else { throw ConnectionLimiter.Full() }
            let pipeline = channel.pipeline.syncOperations
            if let mediaPort {
                let observer = IncomingStreamObserver(
                    didMove: { limiter.replace(channel, by: $0) },
                    isProven: { limiter.update($0) { $0.setMedia($1) } })
                try pipeline.addHandler(IncomingStreamHandler(port: mediaPort, observer: observer))
            }
            if let tls {
                try pipeline.addHandlers(PlainRequestHandler(), TLSHandler(try TLSConnection(serving: tls())))
            }
            let size = RequestSize(limits: limits)
            try pipeline.addHandler(RequestSizeHandler(size: size))
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            try pipeline.addHandler(ExpectationHandler(limit: limits.bodyBytes))
            try pipeline.addHandler(NIOHTTPServerRequestAggregator(maxContentLength: limits.bodyBytes))
            try pipeline.addHandler(
                HTTPConnectionHandler(
                    limiter: limiter, limits: limits, size: size, isSecure: tls != nil, logger: logger, respond: respond
                ))
        }
    }

    /// The event that notifies a connection of the server's end.
    struct Ending {}

    /// Stops listening, and closes each connection after its current response, or after `time`.
    package func finish(within time: Duration) async {
        for channel in channels { try? await channel.close() }
        let open = limiter.close()
        await withTimeLimit(time) {
            for channel in open { channel.pipeline.fireUserInboundEventTriggered(Ending()) }
            for channel in open { try? await channel.closeFuture.get() }
        }
        await close()
    }

    /// Stops listening, and closes all connections.
    func close() async {
        for channel in channels { try? await channel.close() }
        for channel in limiter.close() { try? await channel.close() }
    }
}
