import Logging
import NIOCore
import NIOPosix
import RTCShareICE
import RTCShareLocks
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareTransport

/// The limits on the memory and sockets that a peer's descriptions and addresses can cause.
@Suite(.timeLimit(.minutes(1))) struct PeerBoundTests {
    @Test("The number of trickled host names that are resolved at a time is limited")
    func names() async throws {
        let sender = try await Loopback.open(as: .offerer)
        let viewer = try await Loopback.open(as: .answerer)
        let offer = try await sender.makeOffer()
        try await sender.accept(answer: viewer.answer(offer: offer), to: offer)
        #expect(try await sender.ask(forNames: 40) == 32)
        await sender.close()
        await viewer.close()
    }

    @Test("The number of host names in a description that are resolved is limited")
    func hostNames() async {
        let asked = Locked<[String]>([])
        var resolver = HostNameResolver(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), logger: Logger(label: "test"))
        resolver.lookUp = { name in
            asked.withLock { $0.append(name) }
            return [Loopback.v4]
        }
        var found: [String] = []
        let names = (0..<100).map { "host\($0).example" }
        for await (name, _) in resolver.resolve(Set(names)) { found.append(name) }
        #expect(found.sorted() == Array(names.sorted().prefix(16)))
        #expect(asked.withLock { $0.count } == HostNameResolver.maximumNames)
    }

    @Test("The number of remembered routes is limited, and beyond it all are queried again")
    func routes() {
        var asked = 0
        var probe = RouteProbe { _, _ in
            asked += 1
            return true
        }
        func ask(_ port: Int) {
            _ = probe.hasRoute(
                from: Loopback.v4, to: TransportAddress(ip: Loopback.v4, port: UInt16(port)),
                now: Instant(nanoseconds: 0))
        }
        for _ in 0..<2 { for port in 1...RouteProbe.maximumAnswers { ask(port) } }
        #expect(asked == 256)
        ask(1000)
        ask(1)
        #expect(asked == 258)
    }

    @Test("The number of remembered ends of a peer's streams is limited")
    func streamFailures() async throws {
        let connection = try await Loopback.open(as: .offerer)
        #expect(await connection.endStreams(count: 1000) == 64)
        await connection.close()
    }

    @Test("The number of streams that open for a peer at a time, and of messages that wait for each, is limited")
    func streams() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (taken, dropped) = try await loop.submit {
            let sockets = ConnectionSockets(on: loop)
            let batch = DatagramBatch(on: loop)
            sockets.owner = ConnectionSockets.Owner(
                receive: { _, _, _, _ in }, fail: { _, _ in }, close: { _ in }, refuse: { _, _ in },
                setting: { _ in DedicatedSocket.Setting() }, isProven: { _ in false }, writable: {},
                mediaStream: { nil }, fragments: { [] })
            let base = TransportAddress(ip: Loopback.v4, port: 9)
            func send(to port: UInt16) -> Bool {
                let bytes: [UInt8] = [0, 1, 0, 0]
                let transmission = Transmission(
                    source: base, destination: TransportAddress(ip: Loopback.v4, port: port), transport: .tcp,
                    byteCount: bytes.count)
                return bytes.withUnsafeBytes {
                    sockets.send($0, transmission, in: batch, now: Instant(nanoseconds: 0))
                }
            }
            let taken = (1...100).filter { send(to: $0) }.count
            for _ in 1..<100 { _ = send(to: 1) }
            // Before any of them is opened.
            sockets.remove(base)
            return (taken, sockets.droppedMessages)
        }.get()
        #expect(taken == ConnectionSockets.dedicatedLimit && taken == 32)
        #expect(dropped == 100 - DedicatedSocket.waitingLimit && dropped == 36)
    }

    @Test("An open stream is full after a few kilobytes that wait, and accepts some more for reports and checks")
    func slowStream() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let isOpen = loop.makePromise(of: Void.self)
        let server = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Listener(isOpen))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = UInt16(server.localAddress?.port ?? 0)
        let stream = try await loop.submit {
            let socket = DedicatedSocket(
                DedicatedSocket.Endpoint(
                    transport: .tcp, base: TransportAddress(ip: Loopback.v4, port: 9),
                    destination: TransportAddress(ip: Loopback.v4, port: port)),
                setting: DedicatedSocket.Setting(), on: loop, receive: { _ in }, ended: { _ in })
            socket.write(ByteBuffer(bytes: [0, 1, 0, 0]))
            return NIOLoopBound(socket, eventLoop: loop)
        }.get()
        try await isOpen.futureResult.get()
        let (untilFull, inAll) = try await loop.submit {
            let message = ByteBuffer(bytes: [UInt8](repeating: 0, count: 1024))
            // None of it leaves meanwhile.
            defer { stream.value.close() }
            var untilFull = 0
            while !stream.value.isFull, untilFull < 1000 {
                stream.value.write(message)
                untilFull += 1
            }
            for _ in untilFull..<1000 { stream.value.write(message) }
            return (untilFull, 1000 - stream.value.droppedMessages)
        }.get()
        #expect((2...3).contains(untilFull) && (64...65).contains(inAll), "\(untilFull) and \(inAll) kilobytes")
        try await server.close()
    }

    /// Reports the first received bytes.
    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var heard: EventLoopPromise<Void>?

        init(_ heard: EventLoopPromise<Void>) {
            self.heard = heard
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            heard?.succeed()
            heard = nil
        }
    }
}

extension Connection {
    /// Takes `count` names of the peer at once, and returns the number of resolutions.
    fileprivate func ask(forNames count: Int) throws -> Int {
        for number in 0..<count {
            try addICECandidate("candidate:1 1 udp 2130706431 n\(number).local 4000 typ host")
        }
        return resolutions.count
    }

    /// Ends `count` streams, and returns the number of remembered reasons.
    fileprivate func endStreams(count: Int) -> Int {
        for port in 1...UInt16(count) {
            sockets.owner?.fail(
                DedicatedSocket.Endpoint(
                    transport: .tcp, base: TransportAddress(ip: Loopback.v4, port: 9),
                    destination: TransportAddress(ip: Loopback.v4, port: port)), "refused")
        }
        return servers.streamFailures.count
    }
}
