internal import NIOCore
internal import NIOPosix
public import WireFormat

/// One UDP port for any number of connections: ``Connection/Configuration/sharedPort`` has a connection use it.
///
/// What arrives is told apart by ICE's user name fragments, by transactions, and by the addresses that a connection has
/// accepted (RFC 8445 §5.3, RFC 7983). The connections all live on the port's event loop. A TURN server over UDP is
/// spoken to from another port, one for each connection: it takes one port for one client.
public final class SharedPort: Sendable {
    /// What arrived for nobody.
    public struct Statistics: Hashable, Sendable {
        /// ICE requests whose user name fragment is no connection's.
        public let unknownFragments: Int
        /// STUN responses to nothing that was asked.
        public let unknownTransactions: Int
        /// Other datagrams from addresses that no connection has accepted.
        public let unknownSources: Int
        /// STUN messages that can't be read.
        public let malformed: Int
        /// Times that a connection wanted the address of another's peer.
        public let contested: Int
    }

    let eventLoop: any EventLoop
    private let port: NIOLoopBound<Port>

    /// Opens `port` on each address; without addresses on every usable one of this machine, without a port on one that
    /// the system picks, the same on each.
    public convenience init(addresses: [IPAddress] = [], port: UInt16 = 0) async throws {
        try await self.init(addresses: addresses, port: port, on: MultiThreadedEventLoopGroup.singleton.next())
    }

    /// The same on an event loop that was chosen.
    init(addresses: [IPAddress], port: UInt16, on eventLoop: any EventLoop) async throws {
        self.eventLoop = eventLoop
        self.port = try await eventLoop.submit { NIOLoopBound(Port(), eventLoop: eventLoop) }.get()
        let addresses = addresses.isEmpty ? try NetworkInterfaces.usableAddresses() : addresses
        guard !addresses.isEmpty else { throw ConnectionError.noAddress }
        var port = port
        do {
            for address in addresses {
                let bound = try await open(TransportAddress(ip: address, port: port))
                port = bound.port
            }
        } catch {
            await close()
            throw error
        }
    }

    private func open(_ endpoint: TransportAddress) async throws -> TransportAddress {
        let port = port
        // The address of a socket is known only once it is bound; until then nobody writes to it.
        let bound = NIOLockedAddress()
        let socket = try await DatagramSocket.open(
            at: endpoint, on: eventLoop, isShared: true,
            receive: { bytes, source in
                guard let local = bound.address else { return }
                port.value.receive(&bytes, from: source, at: local)
            },
            closed: {
                guard let local = bound.address else { return }
                port.value.sockets[local] = nil
            })
        try await eventLoop.submit {
            bound.address = socket.address
            port.value.sockets[socket.address] = socket
        }.get()
        return socket.address
    }

    /// Where the port listens.
    public var localAddresses: [TransportAddress] {
        get async {
            let port = port
            let addresses = try? await eventLoop.submit { Array(port.value.sockets.keys) }.get()
            return (addresses ?? []).sorted { $0.description < $1.description }
        }
    }

    /// What arrived for nobody so far.
    public var statistics: Statistics {
        get async {
            let port = port
            let counted = try? await eventLoop.submit { port.value.demultiplexer.statistics }.get()
            let counts = counted ?? PortDemultiplexer.Statistics()
            return Statistics(
                unknownFragments: counts.unknownFragments, unknownTransactions: counts.unknownTransactions,
                unknownSources: counts.unknownSources, malformed: counts.malformed, contested: counts.contested)
        }
    }

    /// Closes the port, whoever still uses it: their paths end.
    public func close() async {
        let port = port
        let closing = try? await eventLoop.submit { port.value.closeSockets() }.get()
        for socket in closing ?? [] { try? await socket.get() }
    }

    /// A connection's part of the port; to be called on the event loop.
    func lease(
        receive: @escaping (inout ByteBuffer, TransportAddress, TransportAddress) -> Void
    ) -> Lease {
        let member = port.value.demultiplexer.join()
        port.value.receivers[member] = receive
        return Lease(port: port.value, member: member)
    }

    deinit {
        let port = port
        eventLoop.execute { port.value.closeSockets() }
    }

    /// What the event loop alone touches.
    final class Port {
        var sockets: [TransportAddress: DatagramSocket] = [:]
        var demultiplexer = PortDemultiplexer()
        var receivers: [PortDemultiplexer.Member: (inout ByteBuffer, TransportAddress, TransportAddress) -> Void] = [:]

        func receive(_ bytes: inout ByteBuffer, from source: TransportAddress, at local: TransportAddress) {
            let member = demultiplexer.member(for: bytes.readableBytesSpan, from: source, at: local)
            guard let member, let receive = receivers[member] else { return }
            receive(&bytes, source, local)
        }

        @discardableResult
        func closeSockets() -> [EventLoopFuture<Void>] {
            defer { sockets = [:] }
            return sockets.values.map { $0.close() }
        }
    }

    /// A connection's part of a port. It lives on the event loop.
    final class Lease {
        private let port: Port
        private let member: PortDemultiplexer.Member

        fileprivate init(port: Port, member: PortDemultiplexer.Member) {
            self.port = port
            self.member = member
        }

        var addresses: [TransportAddress] { Array(port.sockets.keys) }

        func register(fragment: String) {
            port.demultiplexer.register(fragment, of: member)
        }

        /// The socket at one of the port's addresses.
        func socket(at address: TransportAddress) -> DatagramSocket? { port.sockets[address] }

        /// Learns from what is sent whose the answers are.
        func note(
            _ bytes: UnsafeRawBufferPointer, from local: TransportAddress, to remote: TransportAddress, now: Instant
        ) {
            port.demultiplexer.note(bytes.bytes, sentBy: member, from: local, to: remote, now: now)
        }

        func end() {
            port.demultiplexer.leave(member)
            port.receivers[member] = nil
        }
    }
}

/// An address that is written once, on the event loop that reads it.
private final class NIOLockedAddress: @unchecked Sendable {
    var address: TransportAddress?
}
