internal import NIOCore
public import NIOPosix
package import RTCShareICE
public import RTCShareWireFormat

/// One UDP port for any number of connections, which use it by ``Connection/Configuration/sharedPort``.
///
/// Received datagrams are assigned by ICE user name fragments, by transactions, and by the addresses that a connection
/// has accepted (RFC 8445 §5.3, RFC 7983). All connections use the port's event loop. A TURN server over UDP is reached
/// from another port, one for each connection, because it identifies a client by its port.
public actor SharedPort {
    /// The counts of received datagrams that belong to no connection.
    public struct Statistics: Hashable, Sendable {
        /// The number of ICE requests with an unknown user name fragment.
        public let unknownFragments: Int
        /// The number of STUN responses without a request.
        public let unknownTransactions: Int
        /// The number of other datagrams from addresses that no connection has accepted.
        public let unknownSources: Int
        /// The number of invalid STUN messages.
        public let malformed: Int
        /// The number of times that a connection claimed the address of another's peer.
        public let contested: Int
    }

    /// The place where TCP connections of peers are accepted.
    struct Listener {
        let port: UInt16
        /// The addresses; empty for all of this machine.
        let addresses: [IPAddress]

        /// Returns the address of an IP address; nil if it has none.
        func address(at ip: IPAddress) -> TransportAddress? {
            addresses.isEmpty || addresses.contains(ip) ? TransportAddress(ip: ip, port: port) : nil
        }
    }

    /// A change of the port's addresses, or of this machine's routes.
    enum AddressChange {
        case added(TransportAddress)
        case removed(TransportAddress)
        /// A router forwards an outside address to a socket or the listener, instead of the former one.
        case forwarded(TransportAddress, to: BaseAddress, insteadOf: TransportAddress?)
        /// Routes may lead elsewhere.
        case routes
    }

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    nonisolated let eventLoop: any EventLoop
    /// The state that connections access from their event loop, which is this one, as each access checks.
    private nonisolated let port: NIOLoopBoundBox<Port>
    /// The requested addresses; empty for all of this machine.
    private let addresses: [IPAddress]
    /// The port number, the same on every address.
    private var number: UInt16 = 0
    private var monitor: InterfaceMonitor?
    /// The addresses of closed sockets that are being reopened.
    private var reopening: Set<TransportAddress> = []
    private var isClosed = false

    /// Opens `port` on each address that is ready. Without addresses, it uses every usable one of this machine. Without
    /// a port, it uses one that the system chooses, the same on each address. The addresses follow changes of the
    /// machine's interfaces. The port uses an event loop of `eventLoopGroup`. If that belongs to the program, the
    /// program shuts it down after the port is closed.
    public init(
        addresses: [IPAddress] = [], port: UInt16 = 0, eventLoopGroup: MultiThreadedEventLoopGroup = .singleton
    ) async throws {
        try await self.init(addresses: addresses, port: port, on: eventLoopGroup.next())
    }

    /// Opens the port on a given event loop.
    init(addresses: [IPAddress], port: UInt16, on eventLoop: any EventLoop) async throws {
        self.eventLoop = eventLoop
        self.addresses = addresses
        self.port = .makeBoxSendingValue(Port(), eventLoop: eventLoop)
        number = port
        do {
            try await open(addresses.isEmpty ? NetworkInterfaces.usableAddresses() : addresses)
        } catch {
            await close()
            throw error
        }
        monitor = await InterfaceMonitor.start(on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.interfacesDidChange() }
        }
        // For changes before the monitor started.
        interfacesDidChange()
    }

    /// The maximum number of ports of the system's choice that are tried until one is free at every address.
    private static let attempts = 8

    private func open(_ addresses: [IPAddress]) async throws {
        let isChosen = number != 0
        for attempt in 1... {
            do {
                return try await openEach(addresses)
            } catch ConnectionError.portTaken where !isChosen && attempt < Self.attempts {
                for closing in port.value.closeSockets() { try? await closing.get() }
                number = 0
            }
        }
    }

    /// Opens the port at all addresses that are ready; the others follow when the interfaces change.
    private func openEach(_ addresses: [IPAddress]) async throws {
        var unusable: ConnectionError?
        for address in addresses {
            do {
                number = try await open(address).port
            } catch let error as ConnectionError {
                guard case .addressUnusable = error else { throw error }
                unusable = unusable ?? error
            }
        }
        if port.value.sockets.isEmpty { throw unusable ?? .noAddress }
    }

    private func open(_ address: IPAddress) async throws -> TransportAddress {
        let port = port
        let socket = try await DatagramSocket.open(
            at: TransportAddress(ip: address, port: number), on: eventLoop, isShared: true,
            receive: { port.value.receive(&$0, from: $1, at: $2) },
            closed: { [weak self] address in self?.assumeIsolated { $0.socketDidClose(address) } })
        guard !isClosed, port.value.sockets[socket.address] == nil else {
            socket.close()
            throw ConnectionError.addressUnusable(socket.address, reason: "the port has been closed")
        }
        port.value.sockets[socket.address] = socket
        return socket.address
    }

    /// The delay before another attempt to reopen a closed socket.
    private static var reopenDelay: TimeAmount { .milliseconds(250) }

    /// Reopens a socket that SwiftNIO has closed because it can't be read any more. The connections of the port have no
    /// other at this address.
    private func socketDidClose(_ address: TransportAddress) {
        guard port.value.sockets.removeValue(forKey: address) != nil, !isClosed else { return }
        reopening.insert(address)
        reopen(address)
    }

    private func reopen(_ address: TransportAddress, after delay: TimeAmount = .zero) {
        eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            guard let self else { return }
            Task { await self.tryReopening(address) }
        }
    }

    private func tryReopening(_ address: TransportAddress) async {
        guard !isClosed, reopening.contains(address) else { return }
        guard (try? await open(address.ip)) != nil else { return reopen(address, after: Self.reopenDelay) }
        // Its interface may have been removed in the meantime.
        if reopening.remove(address) == nil { port.value.sockets.removeValue(forKey: address)?.close() }
    }

    private func interfacesDidChange() {
        guard let all = try? NetworkInterfaces.allAddresses() else { return }
        // All of 127.0.0.0/8 is this machine, whatever its interfaces report.
        interfacesDidChange(
            present: Set(all.map(\.ip) + (addresses + localAddresses.map(\.ip)).filter(\.isLoopback)),
            usable: NetworkInterfaces.usable(of: all).map(\.ip))
        port.value.tell(.routes)
    }

    /// Closes the sockets of removed addresses, and opens sockets at new ones.
    func interfacesDidChange(present: Set<IPAddress>, usable: [IPAddress]) {
        guard !isClosed else { return }
        let held = localAddresses + reopening
        let known = Set(held.map(\.ip))
        for lost in held where !present.contains(lost.ip) {
            port.value.sockets.removeValue(forKey: lost)?.close()
            reopening.remove(lost)
            port.value.tell(.removed(lost))
        }
        let wanted = addresses.isEmpty ? usable : addresses.filter(present.contains)
        for address in wanted where !known.contains(address) {
            Task {
                // It may not be usable yet: the next change triggers a retry.
                guard let added = try? await self.open(address) else { return }
                self.port.value.tell(.added(added))
            }
        }
    }

    /// The addresses of the port.
    public var localAddresses: [TransportAddress] {
        port.value.sockets.keys.sorted { $0.description < $1.description }
    }

    /// The counts of received datagrams that belong to no connection.
    public var statistics: Statistics {
        let counts = port.value.demultiplexer.statistics
        return Statistics(
            unknownFragments: counts.unknownFragments, unknownTransactions: counts.unknownTransactions,
            unknownSources: counts.unknownSources, malformed: counts.malformed, contested: counts.contested)
    }

    /// Announces that TCP connections to a port number, at these addresses or at all of this machine, are passed to
    /// ``take(_:)``. Connections that are created later have candidates there (RFC 6544).
    package func setListener(port number: UInt16, addresses: [IPAddress]) {
        port.value.listener = Listener(port: number, addresses: addresses)
    }

    /// Announces that TCP connections are not accepted any more.
    package func removeListener() { port.value.listener = nil }

    /// Sets the outside address that a router forwards to a socket of the port, or to the listener; nil if none. It is a
    /// candidate of present and later connections.
    package func setForwardedAddress(_ outside: TransportAddress?, to base: BaseAddress) {
        guard outside != port.value.forwarded[base] else { return }
        port.value.forwarded[base] = outside
        // Connections keep the last one while there is none.
        guard let outside else { return }
        let former = port.value.lastForwarded.updateValue(outside, forKey: base)
        port.value.tell(.forwarded(outside, to: base, insteadOf: former))
    }

    /// Passes a TCP connection to the connection that its first request names.
    nonisolated func take(_ stream: IncomingStream) {
        eventLoop.execute { [port] in port.value.take(stream) }
    }

    /// Closes the port. Connections that still use it lose their routes.
    public func close() async {
        isClosed = true
        monitor?.stop()
        monitor = nil
        for closing in port.value.closeSockets() { try? await closing.get() }
    }

    /// Creates a connection's part of the port. The caller must be on the event loop.
    nonisolated func lease(
        receive: @escaping (inout ByteBuffer, TransportAddress, TransportAddress) -> Void,
        take: @escaping (IncomingStream) -> Void, change: @escaping (AddressChange) -> Void
    ) -> Lease {
        let member = port.value.demultiplexer.join()
        port.value.users[member] = Port.User(receive: receive, take: take, change: change)
        return Lease(port: port, on: eventLoop, member: member)
    }

    deinit {
        // The event loop of a closed port may have ended.
        guard !isClosed else { return }
        let port = port
        eventLoop.execute { port.value.closeSockets() }
    }

    /// The shared state of the port's connections.
    final class Port {
        var sockets: [TransportAddress: DatagramSocket] = [:]
        var demultiplexer = PortDemultiplexer()
        var users: [PortDemultiplexer.Member: User] = [:]
        /// Nil if TCP connections are not accepted.
        var listener: Listener?
        /// The outside addresses that a router forwards.
        var forwarded: [BaseAddress: TransportAddress] = [:]
        /// The last outside addresses, also those that are forwarded no more.
        var lastForwarded: [BaseAddress: TransportAddress] = [:]

        /// A connection.
        struct User {
            let receive: (inout ByteBuffer, TransportAddress, TransportAddress) -> Void
            let take: (IncomingStream) -> Void
            let change: (AddressChange) -> Void
        }

        func receive(_ bytes: inout ByteBuffer, from source: TransportAddress, at local: TransportAddress) {
            let member = demultiplexer.member(for: bytes.readableBytesSpan, from: source, at: local)
            guard let member, let user = users[member] else { return }
            user.receive(&bytes, source, local)
        }

        func take(_ stream: IncomingStream) {
            // A name of this machine can lead to an address that no candidate has.
            guard listener?.address(at: stream.local.ip) == stream.local,
                let member = demultiplexer.member(of: stream.localFragment), let user = users[member]
            else { return stream.close() }
            user.take(stream)
        }

        func tell(_ change: AddressChange) {
            for user in users.values { user.change(change) }
        }

        @discardableResult
        func closeSockets() -> [EventLoopFuture<Void>] {
            let closing = sockets.values
            // Sockets that are closed intentionally are not reopened.
            sockets = [:]
            return closing.map { $0.close() }
        }
    }

    /// A connection's part of a port, until its `deinit`, which can run on any thread.
    final class Lease {
        private let bound: NIOLoopBoundBox<Port>
        private let eventLoop: any EventLoop
        private let member: PortDemultiplexer.Member

        fileprivate init(port: NIOLoopBoundBox<Port>, on eventLoop: any EventLoop, member: PortDemultiplexer.Member) {
            bound = port
            self.eventLoop = eventLoop
            self.member = member
        }

        private var port: Port { bound.value }

        var addresses: [TransportAddress] { Array(port.sockets.keys) }

        func register(fragments: [String]) {
            port.demultiplexer.register(fragments, of: member)
        }

        func listener(at ip: IPAddress) -> TransportAddress? { port.listener?.address(at: ip) }

        /// Returns the outside address that a router forwards to a socket or the listener.
        func forwardedAddress(to base: BaseAddress) -> TransportAddress? { port.forwarded[base] }

        /// Returns the socket at one of the port's addresses.
        func socket(at address: TransportAddress) -> DatagramSocket? { port.sockets[address] }

        /// Records sent data, to assign its answers.
        func note(
            _ bytes: UnsafeRawBufferPointer, from local: TransportAddress, to remote: TransportAddress, now: Instant
        ) {
            port.demultiplexer.note(bytes.bytes, sentBy: member, from: local, to: remote, now: now)
        }

        deinit {
            // If this is not the event loop, it may have ended.
            guard !eventLoop.inEventLoop else { return Self.leave(bound.value, member) }
            eventLoop.execute { [bound, member] in Self.leave(bound.value, member) }
        }

        private static func leave(_ port: Port, _ member: PortDemultiplexer.Member) {
            port.demultiplexer.leave(member)
            port.users[member] = nil
        }
    }
}
