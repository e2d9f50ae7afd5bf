import NIOCore
import NIOPosix
import RTCShareCongestionControl
import RTCShareICE
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// Connections of one destination.
@Suite struct DedicatedSocketTests {
    @Test("Media wait as soon as 4 KiB are unsent, however much the system accepts")
    func fullness() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let server = try await ServerBootstrap(group: loop)
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = UInt16(try #require(server.localAddress?.port))
        let holder = SocketHolder(on: loop)
        await holder.open(to: TransportAddress(ip: .v4(0x7F00_0001), port: port))
        try await holder.opened.futureResult.get()
        let unsent = try await holder.fill()
        #expect((4096..<4096 + 2 * SocketHolder.messageSize).contains(unsent), "\(unsent) bytes")
        await holder.close()
        try await server.close()
    }

    /// A socket on its event loop.
    private actor SocketHolder {
        static let messageSize = 1200
        nonisolated let eventLoop: any EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }
        nonisolated let opened: EventLoopPromise<Void>
        private var socket: DedicatedSocket?

        init(on loop: any EventLoop) {
            eventLoop = loop
            opened = loop.makePromise()
        }

        func open(to destination: TransportAddress) {
            let base = TransportAddress(ip: destination.ip, port: 0)
            let opened = opened
            socket = DedicatedSocket(
                .init(transport: .tcp, base: base, destination: destination),
                setting: .init(framing: .lengthPrefixed), on: eventLoop, receive: { _ in },
                writable: { opened.succeed() }, ended: { _ in })
        }

        /// Sends messages until the socket is full, and returns the number of bytes that are unsent then.
        func fill() throws -> Int {
            let socket = try #require(socket)
            while !socket.isFull {
                socket.write(ByteBuffer(repeating: 0, count: Self.messageSize))
                socket.flush()
            }
            return try #require(socket.progress()).unsent
        }

        func close() { socket?.close() }
    }
}
