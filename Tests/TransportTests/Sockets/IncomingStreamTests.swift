import NIOCore
import NIOEmbedded
import NIOPosix
import RTCShareSTUN
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// TCP connections that peers open, before anybody knows who they are.
@Suite struct IncomingStreamTests {
    /// Counts what the handlers after this one receive.
    private final class Next: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var received = ByteBuffer()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            received.writeBuffer(&bytes)
        }
    }

    private static func channel(_ next: Next) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let observer = IncomingStreamObserver(didMove: { _ in }, isProven: { _ in })
        try channel.pipeline.syncOperations.addHandlers(
            IncomingStreamHandler(observer: observer) { $0.close() }, next)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    @Test(
        "HTTP and TLS are left to the next handlers, with the bytes that told them apart",
        arguments: [0x47, 0x16, 0x80])
    func otherProtocols(first: UInt8) throws {
        let next = Next()
        let channel = try Self.channel(next)
        for byte in [first, 0, 1] { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
        #expect(Array(next.received.readableBytesView) == [first, 0, 1])
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test("A request that is not whole after five seconds closes its connection, however its bytes arrive")
    func slowBytes() throws {
        let next = Next()
        let channel = try Self.channel(next)
        for second in 0..<5 {
            #expect(channel.isActive, "after \(second) s")
            try channel.writeInbound(ByteBuffer(bytes: [0]))
            // The rest of the request follows too slowly.
            if second == 0 { try channel.writeInbound(ByteBuffer(bytes: [60])) }
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(!channel.isActive && next.received.readableBytes == 0)
    }

    @Test("The user name of a request names the connection that it is for")
    func fragment() throws {
        func fragment(_ bytes: [UInt8]) -> String? {
            let framed = [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
            return IncomingStream(
                descriptor: -1, former: EmbeddedChannel(), received: ByteBuffer(bytes: framed),
                source: TransportAddress(ip: .v4(1), port: 1), local: TransportAddress(ip: .v4(2), port: 2),
                observer: IncomingStreamObserver(didMove: { _ in }, isProven: { _ in })
            ).localFragment
        }
        var generator = SystemRandomNumberGenerator()
        let id = TransactionID(using: &generator)
        let request = try STUNMessage(.request, transactionID: id, attributes: [.username("mine:theirs")]).encoded()
        #expect(fragment(request) == "mine")
        let answer = try STUNMessage(.successResponse, transactionID: id, attributes: [.username("mine:theirs")])
            .encoded()
        #expect(fragment(answer) == nil)
        #expect(fragment(try STUNMessage(.request, transactionID: id, attributes: []).encoded()) == nil)
        for count in 0..<request.count { #expect(fragment(Array(request.prefix(count))) == nil) }
        for index in request.indices {
            var changed = request
            changed[index] ^= 0xFF
            #expect(fragment(changed).map { $0.utf8.count <= 200 } ?? true)
        }
    }

    @Test("A connection for nobody, or that sends anything else, is closed by a listener")
    func strangers() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let address = TransportAddress(ip: .v4(0x7F00_0001), port: 0)
        let holder = try await ListenerHolder(on: loop, at: address)
        var generator = SystemRandomNumberGenerator()
        let request = try STUNMessage(
            .request, transactionID: TransactionID(using: &generator), attributes: [.username("nobody:x")]
        ).encoded()
        for bytes in [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x16, 3, 1], [0, UInt8(request.count)] + request, [0, 1, 7],
        ] {
            let closed = loop.makePromise(of: Void.self)
            let client = try await ClientBootstrap(group: loop).connect(
                host: "127.0.0.1", port: Int(holder.port)
            ).get()
            client.closeFuture.cascade(to: closed)
            try await client.writeAndFlush(ByteBuffer(bytes: bytes)).get()
            try await closed.futureResult.get()
        }
        await holder.close()
    }

    /// A listener on its event loop, which refuses all connections.
    private actor ListenerHolder {
        nonisolated let eventLoop: any EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }
        private var listener: StreamListener?
        private(set) nonisolated(unsafe) var port: UInt16 = 0

        init(on loop: any EventLoop, at address: TransportAddress) async throws {
            eventLoop = loop
            try await open(address)
        }

        private func open(_ address: TransportAddress) async throws {
            let listener = try await StreamListener.open(at: address, on: eventLoop) { $0.close() }
            self.listener = listener
            port = listener.address.port
        }

        func close() { listener?.close() }
    }
}
