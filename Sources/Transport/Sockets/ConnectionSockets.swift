internal import NIOCore
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// What a connection sends from and receives at: a UDP socket for each local address, or its part of a shared one, and
/// the sockets that serve one server or peer alone, which open when something first goes there.
///
/// It lives in its connection, and so on its event loop.
final class ConnectionSockets {
    /// Who hears what arrives, and what can't be sent or comes to its end.
    struct Owner {
        var receive: (inout ByteBuffer, TransportAddress, TransportAddress, TransportProtocol) -> Void
        var fail: (DedicatedSocket.Endpoint, _ reason: String) -> Void
        var close: (TransportAddress) -> Void
        /// The kernel refuses to send from an address to another.
        var refuse: (TransportAddress, TransportAddress) -> Void
        /// How a dedicated socket is to be opened; nil where nothing of ours goes there.
        var setting: (DedicatedSocket.Endpoint) -> DedicatedSocket.Setting?
    }

    var owner: Owner?
    private(set) var datagrams: [TransportAddress: DatagramSocket] = [:]
    private var dedicated: [DedicatedSocket.Endpoint: DedicatedSocket] = [:]
    /// The ports of datagram sockets that the system has closed: by its port a server knows an allocation.
    private var formerPorts: [DedicatedSocket.Endpoint: UInt16] = [:]
    private var endedDropped = 0
    private var routes = RouteProbe()
    /// Where nearly all goes, as it was found out last.
    private var route: Route?
    /// Datagrams that the kernel did not take.
    private(set) var refusedDatagrams = 0
    private var unflushedDedicated: Set<DedicatedSocket.Endpoint> = []
    private var lease: SharedPort.Lease?
    private let eventLoop: any EventLoop
    private var isClosed = false

    /// A socket and the name of a destination, of which everything that is to be asked has been asked.
    private struct Route {
        let source: TransportAddress
        let destination: TransportAddress
        let socket: DatagramSocket
        let name: SocketName
        let ends: Instant
    }

    /// How long a route stands without being asked for again.
    private static let routeLifetime = Duration.seconds(1)

    /// A peer names destinations as it likes: more than this aren't opened at a time.
    static let dedicatedLimit = 32

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Where datagrams arrive.
    var addresses: [TransportAddress] { lease?.addresses ?? Array(datagrams.keys) }

    /// Messages that slow streams let fall.
    var droppedMessages: Int { dedicated.values.reduce(endedDropped) { $0 + $1.droppedMessages } }

    /// Counts datagrams that the kernel did not take, nor the queue before it.
    func countRefused(_ count: Int) {
        refusedDatagrams += count
    }

    /// Says that something could not be sent, after the fact.
    func datagramRefused(from source: TransportAddress, to destination: TransportAddress) {
        forgetRoutes()
        owner?.refuse(source, destination)
    }

    /// Takes part in a shared port instead of opening sockets.
    func join(_ lease: SharedPort.Lease) {
        self.lease = lease
    }

    /// Has requests to these user name fragments come here, and no others; on a shared port alone.
    func register(fragments: [String]) {
        lease?.register(fragments: fragments)
    }

    /// Opens a UDP socket; gives the address that it has.
    func open(at endpoint: TransportAddress) async throws -> TransportAddress {
        let socket = try await DatagramSocket.open(
            at: endpoint, on: eventLoop,
            receive: { [weak self] bytes, source, address in self?.owner?.receive(&bytes, source, address, .udp) },
            closed: { [weak self] address in self?.datagramSocketDidClose(address) })
        guard !isClosed else {
            socket.close()
            throw ConnectionError.addressUnusable(endpoint, reason: "the connection has been closed")
        }
        datagrams[socket.address] = socket
        return socket.address
    }

    private func datagramSocketDidClose(_ address: TransportAddress) {
        guard datagrams.removeValue(forKey: address) != nil else { return }
        forgetRoutes()
        owner?.close(address)
    }

    /// Ends the socket at an address that this machine has no longer; its owner is not told.
    func remove(_ address: TransportAddress) {
        forgetRoutes()
        datagrams.removeValue(forKey: address)?.close()
        for (endpoint, socket) in dedicated where endpoint.base == address {
            endedDropped += socket.droppedMessages
            socket.close()
            dedicated[endpoint] = nil
        }
        formerPorts = formerPorts.filter { $0.key.base != address }
    }

    /// Routes may have changed.
    func forgetRoutes() {
        routes.forget()
        route = nil
    }

    /// Hands on what was written into the memory that the batch reserved last; it leaves at its next flush. False where it
    /// can't.
    func send(
        _ bytes: UnsafeRawBufferPointer, _ transmission: Transmission, in batch: DatagramBatch, now: Instant
    ) -> Bool {
        let (source, destination) = (transmission.source, transmission.destination)
        // What is not STUN has no meaning but to the peer.
        if let route, route.destination == destination, route.source == source, now < route.ends,
            !isDedicated(transmission), bytes.count > 0, bytes[0] >= Self.firstOfOthers
        {
            batch.commit(bytes.count, from: route.socket, to: destination, name: route.name, by: self)
            return true
        }
        return route(bytes, transmission, in: batch, now: now)
    }

    /// STUN's messages begin with bytes below this (RFC 7983 §7).
    private static let firstOfOthers = 20

    private func route(
        _ bytes: UnsafeRawBufferPointer, _ transmission: Transmission, in batch: DatagramBatch, now: Instant
    ) -> Bool {
        let endpoint = DedicatedSocket.Endpoint(
            transport: transmission.transport, base: transmission.source, destination: transmission.destination)
        if endpoint.transport.isStream { return sendDedicated(ByteBuffer(bytes: bytes), to: endpoint) }
        guard routes.hasRoute(from: endpoint.base.ip, to: endpoint.destination, now: now) else { return false }
        if isDedicated(transmission) { return sendDedicated(ByteBuffer(bytes: bytes), to: endpoint) }
        lease?.note(bytes, from: endpoint.base, to: endpoint.destination, now: now)
        guard let socket = lease?.socket(at: endpoint.base) ?? datagrams[endpoint.base] else { return false }
        let name = SocketName(endpoint.destination)
        batch.commit(bytes.count, from: socket, to: endpoint.destination, name: name, by: self)
        if bytes.count > 0, bytes[0] >= Self.firstOfOthers {
            route = Route(
                source: endpoint.base, destination: endpoint.destination, socket: socket, name: name,
                ends: now.advanced(by: Self.routeLifetime))
        }
        return true
    }

    /// Whether a socket of its own sends it. A server knows an allocation by the port that asks (RFC 8656 §3.2): where
    /// several connections share one, each has another for its relay, and for nothing else that goes to the server.
    private func isDedicated(_ transmission: Transmission) -> Bool {
        transmission.transport.isStream || lease != nil && transmission.isForRelay
    }

    private func sendDedicated(_ bytes: ByteBuffer, to endpoint: DedicatedSocket.Endpoint) -> Bool {
        guard let socket = dedicated[endpoint] ?? openDedicated(endpoint) else { return false }
        socket.write(bytes)
        unflushedDedicated.insert(endpoint)
        return true
    }

    private func openDedicated(_ endpoint: DedicatedSocket.Endpoint) -> DedicatedSocket? {
        guard !isClosed, dedicated.count < Self.dedicatedLimit,
            var setting = endpoint.transport.isStream ? owner?.setting(endpoint) : DedicatedSocket.Setting()
        else { return nil }
        setting.port = formerPorts.removeValue(forKey: endpoint) ?? 0
        let socket = DedicatedSocket(
            endpoint, setting: setting, on: eventLoop,
            receive: { [weak self] bytes in
                self?.owner?.receive(&bytes, endpoint.destination, endpoint.base, endpoint.transport)
            },
            ended: { [weak self] in self?.dedicatedSocketDidEnd(endpoint, reason: $0) })
        dedicated[endpoint] = socket
        route = nil
        return socket
    }

    private func dedicatedSocketDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        guard let socket = dedicated.removeValue(forKey: endpoint) else { return }
        if !endpoint.transport.isStream, socket.port > 0 { formerPorts[endpoint] = socket.port }
        endedDropped += socket.droppedMessages
        owner?.fail(endpoint, reason)
    }

    /// Sends what was handed on to sockets that serve one destination.
    func flushDedicated() {
        for endpoint in unflushedDedicated { dedicated[endpoint]?.flush() }
        if !unflushedDedicated.isEmpty { unflushedDedicated.removeAll(keepingCapacity: true) }
    }

    /// Ends everything. What was flushed to a UDP socket has left; streams end behind what was written to them.
    func close() async {
        guard !isClosed else { return }
        isClosed = true
        owner = nil
        route = nil
        lease = nil
        for socket in dedicated.values { socket.close() }
        dedicated = [:]
        let open = datagrams.values
        datagrams = [:]
        for closing in open.map({ $0.close() }) { try? await closing.get() }
    }

    deinit {
        for socket in datagrams.values { socket.channel.close(promise: nil) }
    }
}
