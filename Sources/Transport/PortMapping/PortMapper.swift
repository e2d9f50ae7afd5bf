internal import NIOCore
package import NIOPosix
internal import RTCShareLocks
package import RTCShareWireFormat

/// Makes this machine's router forward ports from outside, by PCP, NAT-PMP or UPnP.
///
/// The forwarding is renewed until ``close()``. It follows this machine to another network.
package actor PortMapper {
    /// The outside address of a port.
    package typealias Outcome = Result<TransportAddress, PortMappingError>

    /// A port whose outside address changed, or whose renewal failed.
    package struct Change: Sendable {
        /// The port.
        package let port: ForwardedPort
        /// Its outside address, or the reason why it has none.
        package let outcome: Outcome
    }

    /// The executor of the event loop.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The later changes of opened ports, for one reader.
    package nonisolated let changes: AsyncStream<Change>
    /// The router, and this machine's address on its network; nil before the first port, and without a router.
    package private(set) var route: DefaultRoute?
    /// The protocol that the router understands; nil if it is unknown.
    package private(set) var method: PortMappingProtocol?

    private nonisolated let eventLoop: any EventLoop
    private let findRoute: @Sendable () -> DefaultRoute?
    private let continuation: AsyncStream<Change>.Continuation
    /// The ports with their last reported outcomes.
    private var ports: [ForwardedPort: Outcome] = [:]
    private var monitor: InterfaceMonitor?
    /// The task that follows a change of the interfaces.
    private var following: Task<Void, Never>?
    /// The outcome of a port that the router has not answered at all, which further ports don't wait for.
    private var silence: Outcome?
    private var isClosed = false

    // PCP and NAT-PMP.
    private var client: GatewayClient?
    private var socket: DatagramSocket?
    private var timer: Scheduled<Void>?
    private var waiting: [ForwardedPort: CheckedContinuation<Result<TransportAddress, GatewayClient.Failure>, Never>] =
        [:]
    /// The caller that waits for the end of all mappings.
    private var closing: CheckedContinuation<Void, Never>?

    // UPnP.
    private var search: Task<UPnPRouter?, Never>?
    private var renewal: Task<Void, Never>?

    /// The port of PCP and NAT-PMP servers.
    private static let serverPort: UInt16 = 5351
    /// The interval of renewals by UPnP, which also show that the router has restarted.
    private static let renewalInterval = Duration.seconds(Int64(GatewayClient.lifetime / 2))
    /// The interval of further attempts after a failed renewal.
    private static let retryInterval = Duration.seconds(60)
    /// The maximum time in which mappings are removed.
    private static let closingTime = TimeAmount.seconds(2)

    /// Creates a mapper for this machine's default route.
    package init(eventLoopGroup: MultiThreadedEventLoopGroup = .singleton) {
        self.init(on: eventLoopGroup.next())
    }

    init(on eventLoop: any EventLoop, findRoute: @escaping @Sendable () -> DefaultRoute? = DefaultRoute.current) {
        self.eventLoop = eventLoop
        self.findRoute = findRoute
        (changes, continuation) = AsyncStream.makeStream(of: Change.self)
    }

    /// Makes the router forward a port until ``close()``, and returns the outside address, within some three seconds.
    package func open(_ port: ForwardedPort) async throws(PortMappingError) -> TransportAddress {
        if monitor == nil {
            monitor = await InterfaceMonitor.start(on: eventLoop) { [weak self] in
                self?.assumeIsolated { $0.interfacesDidChange() }
            }
        }
        let outcome = await request(port)
        if !isClosed { ports[port] = outcome }
        return try outcome.get()
    }

    /// Removes all mappings.
    package func close() async {
        isClosed = true
        continuation.finish()
        monitor?.stop()
        following?.cancel()
        renewal?.cancel()
        if method == .upnp, let search {
            await withTaskGroup(of: Void.self) { group in
                for (port, outcome) in ports {
                    guard case .success(let outside) = outcome else { continue }
                    group.addTask { await search.value?.unmap(port, outside: outside.port) }
                }
            }
        } else {
            await releaseClient()
        }
        stopClient()
    }

    // MARK: Requests

    private func request(_ port: ForwardedPort) async -> Outcome {
        if route == nil { await start() }
        guard let route else { return .failure(.noRouter) }
        if method == .upnp { return await requestByUPnP(port, route) }
        if let silence, method == nil { return silence }
        switch await requestByClient(port) {
        case .success(let outside): return .success(outside)
        case .failure(let failure):
            // Routers that have both can forbid one of them.
            let outcome = await requestByUPnP(port, route)
            guard case .failure(.noAnswer) = outcome else { return outcome }
            guard case .refused(let method, let reason) = failure else {
                silence = outcome
                return outcome
            }
            return .failure(.refused(router: route.gateway, method, reason))
        }
    }

    /// Finds the router, and starts to look for its UPnP service, which takes as long as the wait for other answers.
    private func start() async {
        let findRoute = findRoute
        guard let route = await WorkerThread.run(named: "route", findRoute), !isClosed else { return }
        self.route = route
        search = Task { await UPnPRouter.find(route) }
        let server = TransportAddress(ip: route.gateway, port: Self.serverPort)
        socket = try? await DatagramSocket.open(
            at: TransportAddress(ip: route.local, port: 0), on: eventLoop,
            receive: { [weak self] bytes, source, _ in
                guard source == server else { return }
                self?.assumeIsolated { $0.receive(bytes) }
            }, closed: { _ in })
        client = GatewayClient(local: route.local, generator: SystemRandomNumberGenerator())
    }

    private func requestByClient(_ port: ForwardedPort) async -> Result<TransportAddress, GatewayClient.Failure> {
        await withCheckedContinuation { continuation in
            guard client != nil, waiting[port] == nil else { return continuation.resume(returning: .failure(.silence)) }
            waiting[port] = continuation
            client?.open(port, now: MonotonicClock.now)
            drain()
        }
    }

    private func requestByUPnP(_ port: ForwardedPort, _ route: DefaultRoute) async -> Outcome {
        guard let router = await search?.value else {
            return .failure(.noAnswer(router: route.gateway, upnpProblem: UPnPRouter.problem))
        }
        var former: UInt16?
        if case .success(let outside) = ports[port] { former = outside.port }
        do throws(UPnPRouter.Failure) {
            guard let outside = try await router.map(port, former: former) else {
                return .failure(.refused(router: route.gateway, .upnp, .noOutsideAddress))
            }
            method = .upnp
            renewByUPnP()
            return .success(outside)
        } catch {
            return .failure(.refused(router: route.gateway, .upnp, PortMappingRefusal(upnp: error.code)))
        }
    }

    // MARK: Changes

    private func renewByUPnP() {
        guard renewal == nil, !isClosed else { return }
        renewal = Task { [weak self] in
            var wait = Self.renewalInterval
            while (try? await Task.sleep(for: wait)) != nil {
                guard let isRenewed = await self?.renewPorts() else { return }
                wait = isRenewed ? Self.renewalInterval : Self.retryInterval
            }
        }
    }

    /// Renews all mappings by UPnP. Returns whether all were renewed.
    private func renewPorts() async -> Bool {
        guard let route, method == .upnp else { return true }
        var isRenewed = true
        for port in ports.keys {
            var outcome = await requestByUPnP(port, route)
            if case .failure = outcome {
                // A router that has restarted can have its service at another URL.
                search = Task { await UPnPRouter.find(route) }
                outcome = await requestByUPnP(port, route)
            }
            guard !isClosed else { return true }
            if case .failure = outcome { isRenewed = false }
            report(outcome, of: port)
        }
        return isRenewed
    }

    private func report(_ outcome: Outcome, of port: ForwardedPort) {
        guard ports[port] != outcome, !isClosed else { return }
        ports[port] = outcome
        continuation.yield(Change(port: port, outcome: outcome))
    }

    /// Starts again if the router or this machine's address is another one now. A new route can follow its address later.
    private func interfacesDidChange() {
        following?.cancel()
        following = Task { [weak self] in
            var wait = Duration.seconds(1)
            while await self?.followRoute() == false {
                guard (try? await Task.sleep(for: wait)) != nil else { return }
                wait = min(wait * 4, Self.retryInterval)
            }
        }
    }

    /// Requests the ports on the current network, and returns whether the router has answered.
    private func followRoute() async -> Bool {
        let findRoute = findRoute
        let current = await WorkerThread.run(named: "route", findRoute)
        guard !isClosed, !Task.isCancelled else { return true }
        guard let current else { return false }
        if current != route {
            stopClient()
            renewal?.cancel()
            (route, method, search, renewal) = (nil, nil, nil, nil)
        } else if ports.values.allSatisfy(\.isAnswered) {
            return true
        }
        silence = nil
        for port in ports.keys { report(await request(port), of: port) }
        return ports.values.allSatisfy(\.isAnswered)
    }

    // MARK: PCP and NAT-PMP

    private func receive(_ bytes: ByteBuffer) {
        client?.receive(bytes.readableBytesSpan, now: MonotonicClock.now)
        drain()
    }

    private func drain() {
        timer?.cancel()
        timer = nil
        if let route {
            while let bytes = client?.pollTransmit() {
                _ = socket?.send(
                    ByteBuffer(bytes: bytes), to: TransportAddress(ip: route.gateway, port: Self.serverPort))
            }
        }
        while let event = client?.pollEvent() { handle(event) }
        guard let deadline = client?.nextDeadline else {
            closing?.resume()
            return closing = nil
        }
        timer = eventLoop.assumeIsolated().scheduleTask(
            in: TimeAmount(max(.zero, deadline - MonotonicClock.now))
        ) { [weak self] in
            self?.assumeIsolated {
                $0.client?.advance(now: MonotonicClock.now)
                $0.drain()
            }
        }
    }

    private func handle(_ event: GatewayClient.Event) {
        switch event {
        case .opened(let port, let outside):
            if method != .upnp { method = client?.method }
            if let waiter = waiting.removeValue(forKey: port) { return waiter.resume(returning: .success(outside)) }
            report(.success(outside), of: port)
        case .failed(let port, let failure):
            if let waiter = waiting.removeValue(forKey: port) { return waiter.resume(returning: .failure(failure)) }
            guard let gateway = route?.gateway else { return }
            switch failure {
            case .silence: report(.failure(.noAnswer(router: gateway, upnpProblem: nil)), of: port)
            case .refused(let method, let reason):
                report(.failure(.refused(router: gateway, method, reason)), of: port)
            }
        case .released: break
        }
    }

    /// Removes the mappings, and returns when the router has answered, or after a limit.
    private func releaseClient() async {
        guard client != nil else { return }
        await withCheckedContinuation { continuation in
            closing = continuation
            client?.release(now: MonotonicClock.now)
            drain()
            eventLoop.assumeIsolated().scheduleTask(in: Self.closingTime) {
                self.assumeIsolated {
                    $0.closing?.resume()
                    $0.closing = nil
                }
            }
        }
    }

    private func stopClient() {
        timer?.cancel()
        timer = nil
        client = nil
        socket?.close()
        socket = nil
        for waiter in waiting.values { waiter.resume(returning: .failure(.silence)) }
        waiting = [:]
    }
}

extension PortMapper.Outcome {
    /// Whether a router has forwarded or refused the port.
    fileprivate var isAnswered: Bool {
        switch self {
        case .success, .failure(.refused): true
        case .failure(.noRouter), .failure(.noAnswer): false
        }
    }
}
