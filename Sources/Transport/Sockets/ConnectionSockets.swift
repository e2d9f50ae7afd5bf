internal import NIOCore
internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The sockets of a connection: a UDP socket for each local address, or its part of a shared one, and sockets for
/// single servers or peers, which open when they are first used or when a peer connects.
///
/// It belongs to its connection, and so to its event loop.
final class ConnectionSockets {
    /// The owner's handlers of received data and failures.
    struct Owner {
        var receive: (inout ByteBuffer, TransportAddress, TransportAddress, TransportProtocol) -> Void
        var fail: (DedicatedSocket.Endpoint, _ reason: String) -> Void
        var close: (TransportAddress) -> Void
        /// Called when the kernel refuses to send from one address to another.
        var refuse: (TransportAddress, TransportAddress) -> Void
        /// Returns the parameters of a dedicated socket; nil if this connection does not use that destination.
        var setting: (DedicatedSocket.Endpoint) -> DedicatedSocket.Setting?
        /// Returns whether the peer that opened a connection has shown that it knows the ICE password.
        var isProven: (DedicatedSocket.Endpoint) -> Bool
        /// Called when a full stream has room again.
        var writable: () -> Void
        /// Returns the stream that carries media.
        var mediaStream: () -> DedicatedSocket.Endpoint?
        /// Returns the user name fragments that requests for this connection have.
        var fragments: () -> [String]
    }

    var owner: Owner?
    private(set) var datagrams: [TransportAddress: DatagramSocket] = [:]
    private var listeners: [IPAddress: StreamListener] = [:]
    private var dedicated: [DedicatedSocket.Endpoint: DedicatedSocket] = [:]
    /// The ports of datagram sockets that the system has closed: a server identifies an allocation by its port.
    private var formerPorts: [DedicatedSocket.Endpoint: UInt16] = [:]
    private var endedDropped = 0
    private var routes = RouteProbe()
    /// The last used route, which nearly all datagrams take.
    private var route: Route?
    /// The number of datagrams that the kernel rejected.
    private(set) var refusedDatagrams = 0
    private var unflushedDedicated: Set<DedicatedSocket.Endpoint> = []
    private var lease: SharedPort.Lease?
    private let eventLoop: any EventLoop
    private var isClosed = false

    /// A socket and the name of a destination, for which all checks have been made.
    private struct Route {
        let source: TransportAddress
        let destination: TransportAddress
        let socket: DatagramSocket
        let name: SocketName
        let ends: Instant
    }

    /// The time for which a route is used without another check.
    private static let routeLifetime = Duration.seconds(1)

    /// The maximum number of dedicated sockets: a peer can name any number of destinations.
    static let dedicatedLimit = 32

    /// The maximum number of connections that peers have opened.
    static let incomingLimit = 8
    /// The time in which a peer that has opened a connection must show that it knows the ICE password.
    private static let proofTime = Duration.seconds(5)

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The addresses at which datagrams arrive.
    var addresses: [TransportAddress] { lease?.addresses ?? Array(datagrams.keys) }

    /// The number of messages that slow streams dropped.
    var droppedMessages: Int { dedicated.values.reduce(endedDropped) { $0 + $1.droppedMessages } }

    /// Counts datagrams that neither the kernel nor the queue before it accepted.
    func countRefused(_ count: Int) {
        refusedDatagrams += count
    }

    /// Reports a datagram that was rejected later.
    func datagramRefused(from source: TransportAddress, to destination: TransportAddress) {
        forgetRoutes()
        owner?.refuse(source, destination)
    }

    /// Joins a shared port instead of opening sockets.
    func join(_ lease: SharedPort.Lease) {
        self.lease = lease
    }

    /// Routes requests with these user name fragments to this connection, and no others; only for a shared port.
    func register(fragments: [String]) {
        lease?.register(fragments: fragments)
    }

    /// Returns the address at which TCP connections to an IP address are accepted; nil if they are not.
    func listener(at ip: IPAddress) -> TransportAddress? { lease?.listener(at: ip) ?? listeners[ip]?.address }

    /// Returns the outside address that a router forwards to a socket or the listener of a shared port.
    func forwardedAddress(to base: BaseAddress) -> TransportAddress? { lease?.forwardedAddress(to: base) }

    /// Accepts TCP connections at an address.
    func listen(at address: TransportAddress) async throws {
        let listener = try await StreamListener.open(at: address, on: eventLoop) { [weak self] stream in
            guard let self, let fragment = stream.localFragment, self.owner?.fragments().contains(fragment) == true
            else { return stream.close() }
            self.take(stream)
        }
        guard !isClosed else { throw PeerConnectionError.ended }
        listeners[address.ip] = listener
    }

    /// Opens a UDP socket and returns its address.
    func open(at endpoint: TransportAddress) async throws -> TransportAddress {
        let socket = try await DatagramSocket.open(
            at: endpoint, on: eventLoop,
            receive: { [weak self] bytes, source, address in self?.owner?.receive(&bytes, source, address, .udp) },
            closed: { [weak self] address in self?.datagramSocketDidClose(address) })
        guard !isClosed else {
            socket.close()
            throw PeerConnectionError.ended
        }
        datagrams[socket.address] = socket
        return socket.address
    }

    private func datagramSocketDidClose(_ address: TransportAddress) {
        guard datagrams.removeValue(forKey: address) != nil else { return }
        forgetRoutes()
        owner?.close(address)
    }

    /// Closes the socket at an address that this machine has lost, without notifying its owner.
    func remove(_ address: TransportAddress) {
        forgetRoutes()
        datagrams.removeValue(forKey: address)?.close()
        listeners.removeValue(forKey: address.ip)?.close()
        for endpoint in dedicated.keys where endpoint.base.ip == address.ip {
            closeDedicated(endpoint)
        }
        formerPorts = formerPorts.filter { $0.key.base != address }
    }

    /// Forgets all routes after a possible change.
    func forgetRoutes() {
        routes.forget()
        route = nil
    }

    /// Sends the bytes in the memory that the batch reserved last, with its next flush. Returns false if that is not
    /// possible.
    func send(
        _ bytes: UnsafeRawBufferPointer, _ transmission: Transmission, in batch: DatagramBatch, now: Instant
    ) -> Bool {
        let (source, destination) = (transmission.source, transmission.destination)
        // Only the peer understands data that is not STUN.
        if let route, route.destination == destination, route.source == source, now < route.ends,
            !isDedicated(transmission), bytes.count > 0, bytes[0] >= Self.firstOfOthers
        {
            batch.commit(bytes.count, from: route.socket, to: destination, name: route.name, by: self)
            return true
        }
        return route(bytes, transmission, in: batch, now: now)
    }

    /// The minimum first byte of data other than STUN messages (RFC 7983 §7).
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

    /// Returns whether a dedicated socket sends it. A server identifies an allocation by the client's port (RFC 8656
    /// §3.2): if several connections share a port, each has another one for its relay, and for nothing else to that
    /// server.
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
        return addDedicated(endpoint, setting)
    }

    @discardableResult
    private func addDedicated(
        _ endpoint: DedicatedSocket.Endpoint, _ setting: DedicatedSocket.Setting
    ) -> DedicatedSocket {
        let socket = DedicatedSocket(
            endpoint, setting: setting, on: eventLoop,
            receive: { [weak self] bytes in self?.receive(&bytes, at: endpoint) },
            writable: { [weak self] in self?.owner?.writable() },
            ended: { [weak self] in self?.dedicatedSocketDidEnd(endpoint, reason: $0) })
        dedicated[endpoint] = socket
        route = nil
        return socket
    }

    private func receive(_ bytes: inout ByteBuffer, at endpoint: DedicatedSocket.Endpoint) {
        owner?.receive(&bytes, endpoint.destination, endpoint.base, endpoint.transport)
        guard let socket = dedicated[endpoint], socket.isUnproven, owner?.isProven(endpoint) == true else { return }
        socket.keep()
    }

    /// Takes a TCP connection that a peer has opened. At the limit, it closes another one: one that has not shown that
    /// it is the peer's, or the one that was silent for longest, which a peer that has changed its network can't close.
    func take(_ incoming: IncomingStream) {
        let endpoint = DedicatedSocket.Endpoint(
            transport: .tcp, base: incoming.local, destination: incoming.source)
        let others = dedicated.filter { $0.value.isIncoming }
        guard !isClosed, dedicated[endpoint] == nil else { return incoming.close() }
        if others.count >= Self.incomingLimit {
            let replaced = others.filter { !isInUse($0.key) }
                .min {
                    ($0.value.isUnproven ? 0 : 1, $0.value.lastReceived) < (
                        $1.value.isUnproven ? 0 : 1, $1.value.lastReceived
                    )
                }
            guard let replaced else { return incoming.close() }
            closeDedicated(replaced.key)
            owner?.fail(replaced.key, "the peer has opened others")
        }
        addDedicated(
            endpoint,
            DedicatedSocket.Setting(framing: .lengthPrefixed, openingLimit: Self.proofTime, incoming: incoming))
    }

    private func closeDedicated(_ endpoint: DedicatedSocket.Endpoint) {
        guard let socket = dedicated.removeValue(forKey: endpoint) else { return }
        endedDropped += socket.droppedMessages
        socket.close()
    }

    private func isInUse(_ endpoint: DedicatedSocket.Endpoint) -> Bool { owner?.mediaStream() == endpoint }

    /// Whether media must wait for a stream, which has accepted all that it can send soon.
    func isFull(_ stream: MediaPath) -> Bool { dedicated[DedicatedSocket.Endpoint(stream)]?.isFull ?? false }

    /// Returns the progress of a stream; nil if it is not open.
    func progress(of stream: MediaPath) -> StreamProgress? {
        dedicated[DedicatedSocket.Endpoint(stream)]?.progress()
    }

    private func dedicatedSocketDidEnd(_ endpoint: DedicatedSocket.Endpoint, reason: String) {
        guard let socket = dedicated.removeValue(forKey: endpoint) else { return }
        if !endpoint.transport.isStream, socket.port > 0 { formerPorts[endpoint] = socket.port }
        endedDropped += socket.droppedMessages
        owner?.fail(endpoint, reason)
    }

    /// Sends the data that was written to dedicated sockets.
    func flushDedicated() {
        for endpoint in unflushedDedicated { dedicated[endpoint]?.flush() }
        if !unflushedDedicated.isEmpty { unflushedDedicated.removeAll(keepingCapacity: true) }
    }

    /// Closes everything. Datagrams that were flushed have been sent; streams end after the data that was written to
    /// them.
    func close() async {
        guard !isClosed else { return }
        isClosed = true
        owner = nil
        route = nil
        lease = nil
        for socket in dedicated.values { socket.close() }
        dedicated = [:]
        for listener in listeners.values { listener.close() }
        listeners = [:]
        let open = datagrams.values
        datagrams = [:]
        for closing in open.map({ $0.close() }) { try? await closing.get() }
    }

    deinit {
        for socket in datagrams.values { socket.channel.close(promise: nil) }
    }
}
