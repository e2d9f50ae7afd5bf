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
    /// The protocols by which the router forwards the opened ports.
    package private(set) var methods: Set<PortMappingProtocol> = []

    private nonisolated let eventLoop: any EventLoop
    private let findRoute: @Sendable () -> DefaultRoute?
    private let continuation: AsyncStream<Change>.Continuation
    /// The ports with their last reported outcomes.
    private var ports: [ForwardedPort: Outcome] = [:]
    private var monitor: InterfaceMonitor?
    /// The search for the router.
    private var starting: Task<Void, Never>?
    /// The task that follows a change of the interfaces.
    private var following: Task<Void, Never>?
    private var isClosed = false

    // PCP and NAT-PMP.
    private var client: GatewayClient?
    private var socket: DatagramSocket?
    private var timer: Scheduled<Void>?
    /// The callers that wait for a port.
    private var waiting: [ForwardedPort: [Waiter]] = [:]
    /// Whether the router has answered neither protocol, so that further ports don't wait for that.
    private var isSilent = false
    /// The caller that waits for the end of all mappings.
    private var closing: CheckedContinuation<Void, Never>?

    // UPnP.
    private var search: Task<UPnPRouter?, Never>?
    private var renewal: Task<Void, Never>?
    /// The mappings by UPnP, also those whose renewal failed.
    private var mappings: [ForwardedPort: (outside: UInt16, expiry: Instant)] = [:]
    /// The mappings that the router is about to make.
    private var pending: [ForwardedPort: Mapping] = [:]

    private typealias Mapping = Task<Result<TransportAddress?, UPnPRouter.Failure>, Never>
    private typealias Waiter = CheckedContinuation<Result<TransportAddress, GatewayClient.Failure>, Never>

    /// The port of PCP and NAT-PMP servers.
    private static let serverPort: UInt16 = 5351
    /// The interval of renewals by UPnP, which also show that the router has restarted.
    private static let renewalInterval = Duration.seconds(Int64(GatewayClient.lifetime / 2))
    /// The interval of further attempts after a failed renewal.
    private static let retryInterval = Duration.seconds(60)
    /// The maximum time in which mappings are removed.
    private static let closingTime = Duration.seconds(2)
    /// The maximum times of a search for UPnP, which anybody on the network can prolong, and of a mapping by UPnP.
    private static let (searchTime, mappingTime) = (Duration.seconds(4), Duration.seconds(6))

    /// Creates a mapper for this machine's default route.
    package init(eventLoopGroup: MultiThreadedEventLoopGroup = .singleton) {
        self.init(on: eventLoopGroup.next())
    }

    init(on eventLoop: any EventLoop, findRoute: @escaping @Sendable () -> DefaultRoute? = DefaultRoute.current) {
        self.eventLoop = eventLoop
        self.findRoute = findRoute
        (changes, continuation) = AsyncStream.makeStream(of: Change.self)
    }

    /// Makes the router forward a port until ``close()``, and returns the outside address: within some three seconds, or
    /// a dozen if the router's UPnP is slow.
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
        async let release: Void = releaseClient()
        await unmapAll()
        await release
        stopClient()
    }

    /// Removes the mappings by UPnP, also those that the router is still about to make.
    private func unmapAll() async {
        guard !mappings.isEmpty || !pending.isEmpty, let router = await search?.value else { return }
        let (mappings, pending) = (mappings, pending)
        _ = await value(within: Self.closingTime) {
            await withTaskGroup(of: Void.self) { group in
                for (port, mapping) in mappings { group.addTask { await router.unmap(port, outside: mapping.outside) } }
                for (port, mapping) in pending {
                    group.addTask {
                        guard case .success(let outside?) = await mapping.value else { return }
                        await router.unmap(port, outside: outside.port)
                    }
                }
            }
        }
    }

    // MARK: Requests

    private func request(_ port: ForwardedPort) async -> Outcome {
        if starting == nil { starting = Task { await start() } }
        await starting?.value
        guard let route, !isClosed else { return .failure(.noRouter) }
        if mappings[port] != nil || isSilent { return await requestByUPnP(port, route) }
        switch await requestByClient(port) {
        case .success(let outside): return .success(outside)
        case .failure(let failure):
            if failure == .silence, !isClosed { isSilent = true }
            // Routers that have both can forbid one of them.
            let outcome = await requestByUPnP(port, route)
            guard case .failure(.noAnswer) = outcome, case .refused(let method, let reason) = failure else {
                return outcome
            }
            return .failure(.refused(router: route.gateway, method, reason))
        }
    }

    /// Finds the router, and starts to look for its UPnP service, which takes as long as the wait for other answers.
    private func start() async {
        let findRoute = findRoute
        guard let route = await WorkerThread.run(named: "route", findRoute), !isClosed, !Task.isCancelled else {
            return
        }
        search = findUPnP(route)
        let server = TransportAddress(ip: route.gateway, port: Self.serverPort)
        let socket = try? await DatagramSocket.open(
            at: TransportAddress(ip: route.local, port: 0), on: eventLoop,
            receive: { [weak self] bytes, source, _ in
                guard source == server else { return }
                self?.assumeIsolated { $0.receive(bytes) }
            }, closed: { _ in })
        guard !isClosed, !Task.isCancelled else {
            socket?.close()
            return
        }
        (self.route, self.socket) = (route, socket)
        client = GatewayClient(local: route.local, generator: SystemRandomNumberGenerator())
    }

    private func findUPnP(_ route: DefaultRoute) -> Task<UPnPRouter?, Never> {
        Task { await value(within: Self.searchTime) { await UPnPRouter.find(route) } ?? nil }
    }

    private func requestByClient(_ port: ForwardedPort) async -> Result<TransportAddress, GatewayClient.Failure> {
        await withCheckedContinuation { continuation in
            guard client != nil else { return continuation.resume(returning: .failure(.silence)) }
            waiting[port, default: []].append(continuation)
            client?.open(port, now: MonotonicClock.now)
            drain()
        }
    }

    private func requestByUPnP(_ port: ForwardedPort, _ route: DefaultRoute) async -> Outcome {
        let silence = Outcome.failure(.noAnswer(router: route.gateway, upnpProblem: UPnPRouter.problem))
        guard !isClosed, let router = await search?.value, !isClosed, self.route == route else { return silence }
        let former = mappings[port]?.outside
        let mapping: Mapping = Task { () -> Result<TransportAddress?, UPnPRouter.Failure> in
            do throws(UPnPRouter.Failure) { return .success(try await router.map(port, former: former)) } catch {
                return .failure(error)
            }
        }
        pending[port] = mapping
        let result = await value(within: Self.mappingTime) { await mapping.value }
        if result != nil, pending[port] == mapping { pending[port] = nil }
        guard let result, !isClosed, self.route == route else {
            // Nobody would remove what is mapped later, unless a further attempt has mapped the same.
            Task {
                let outcome = await mapping.value
                if pending[port] == mapping { pending[port] = nil }
                guard case .success(let outside?) = outcome, mappings[port]?.outside != outside.port else { return }
                await router.unmap(port, outside: outside.port)
            }
            return silence
        }
        switch result {
        case .success(let outside?):
            if let former, former != outside.port { await router.unmap(port, outside: former) }
            mappings[port] = (
                outside.port, MonotonicClock.now.advanced(by: .seconds(Int64(GatewayClient.lifetime)))
            )
            methods.insert(.upnp)
            renewByUPnP()
            return .success(outside)
        case .success(nil): return .failure(.refused(router: route.gateway, .upnp, .noOutsideAddress))
        // The library has no answer of the router.
        case .failure(let failure) where failure.code < 0: return silence
        case .failure(let failure):
            return .failure(.refused(router: route.gateway, .upnp, PortMappingRefusal(upnp: failure.code)))
        }
    }

    /// Returns a value, or nil if it takes longer than `limit`. The operation continues then.
    private nonisolated func value<Value: Sendable>(
        within limit: Duration, _ operation: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let promise = eventLoop.makePromise(of: Value?.self)
        let timer = eventLoop.scheduleTask(in: TimeAmount(limit)) { promise.succeed(nil) }
        Task { promise.succeed(await operation()) }
        defer { timer.cancel() }
        return (try? await promise.futureResult.get()) ?? nil
    }

    // MARK: Changes

    private func renewByUPnP() {
        guard renewal == nil, !isClosed else { return }
        renewal = Task { [weak self] in
            var wait = Self.renewalInterval
            while (try? await Task.sleep(for: wait)) != nil {
                guard let isRenewed = await self?.renewMappings() else { return }
                wait = isRenewed ? Self.renewalInterval : Self.retryInterval
            }
        }
    }

    /// Renews all mappings by UPnP. Returns whether all were renewed.
    private func renewMappings() async -> Bool {
        guard let route else { return true }
        var isRenewed = true
        for (port, mapping) in mappings {
            var outcome = await requestByUPnP(port, route)
            if case .failure = outcome, !Task.isCancelled {
                // A router that has restarted can have its service at another URL.
                search = findUPnP(route)
                outcome = await requestByUPnP(port, route)
            }
            guard !isClosed, !Task.isCancelled else { return true }
            if case .failure = outcome { isRenewed = false }
            // A lost answer ends nothing before the lifetime has passed.
            if case .failure(.noAnswer) = outcome, MonotonicClock.now < mapping.expiry { continue }
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

    /// Requests the ports on the current network that the router has not answered, and returns whether it has answered
    /// all.
    private func followRoute() async -> Bool {
        let findRoute = findRoute
        let current = await WorkerThread.run(named: "route", findRoute)
        guard !isClosed, !Task.isCancelled else { return true }
        guard let current else { return false }
        let isOther = current != route
        if isOther {
            // The same router refuses the ports to another address of this machine while the former one has them.
            if current.gateway == route?.gateway {
                await unmapAll()
                guard !isClosed, !Task.isCancelled else { return true }
            }
            stopClient()
            starting?.cancel()
            renewal?.cancel()
            (route, starting, search, renewal) = (nil, nil, nil, nil)
            (mappings, methods, pending) = ([:], [], [:])
        }
        isSilent = false
        for (port, outcome) in ports where isOther || !outcome.isAnswered {
            let outcome = await request(port)
            guard !Task.isCancelled else { return true }
            report(outcome, of: port)
        }
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
            if let method = client?.method { methods.insert(method) }
            if answer(port, with: .success(outside)) { return }
            report(.success(outside), of: port)
        case .failed(let port, let failure):
            if answer(port, with: .failure(failure)) { return }
            guard let gateway = route?.gateway else { return }
            switch failure {
            case .silence: report(.failure(.noAnswer(router: gateway, upnpProblem: nil)), of: port)
            case .refused(let method, let reason):
                report(.failure(.refused(router: gateway, method, reason)), of: port)
            }
        case .released: break
        }
    }

    /// Returns a result to the callers that wait for a port, and whether there are any.
    private func answer(_ port: ForwardedPort, with result: Result<TransportAddress, GatewayClient.Failure>) -> Bool {
        guard let waiters = waiting.removeValue(forKey: port) else { return false }
        for waiter in waiters { waiter.resume(returning: result) }
        return true
    }

    /// Removes the mappings, and returns when the router has answered, or after a limit.
    private func releaseClient() async {
        guard client != nil else { return }
        await withCheckedContinuation { continuation in
            closing = continuation
            client?.release(now: MonotonicClock.now)
            drain()
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(Self.closingTime)) {
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
        for port in waiting.keys { _ = answer(port, with: .failure(.silence)) }
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
