import Logging
import NIOCore
import NIOPosix
import RTCShareICE
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// Names under `.local`, resolved on the machine's own network.
@Suite(.timeLimit(.minutes(1))) struct MulticastDNSTests {
    private static let logger = Logger(label: "test")

    /// An interface that carries multicast, other than the loopback one.
    private static var device: NIONetworkDevice? {
        try? System.enumerateDevices().first { device in
            device.multicastSupported && device.address?.protocol == .inet
                && device.address?.ipAddress != "127.0.0.1"
        }
    }

    @Test(
        "A name is resolved by a responder on the network",
        .enabled(if: device != nil, "needs an interface with IPv4 multicast"))
    func responderIsHeard() async throws {
        let device = try #require(Self.device)
        let name = "7a4f3b0e-52c1-4f0e-9a37-2d7d4f0e11aa.local"
        let address = IPAddress.v4(0xC000_0242)
        let responder = try await Responder(name: name, address: address, device: device)
        let resolver = HostNameResolver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), logger: Self.logger)
        // A name is returned as it was written, which differs from its query.
        let names = [name, name.uppercased() + "."]
        var found: [String: [IPAddress]] = [:]
        for await (resolved, address) in resolver.resolve(Set(names)) { found[resolved, default: []].append(address) }
        #expect(found == [names[0]: [address], names[1]: [address]])
        try await responder.close()
    }

    @Test("A search ends when it is cancelled or when no responder answers")
    func cancelledSearch() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let client = MulticastDNSClient(eventLoop: loop, logger: Self.logger)
        let search = Task { await client.resolve(["nobody-here.local"]) { _, _ in } }
        search.cancel()
        await search.value

        let resolver = HostNameResolver(eventLoop: loop, logger: Self.logger)
        for await _ in resolver.resolve(["nobody-here.local", "not a name.local", "no-such-host.invalid"]) {
            Issue.record("nobody has these names")
        }
    }

    /// Answers for one name, as a browser's responder does.
    private final class Responder: Sendable {
        private let channel: any Channel

        init(name: String, address: IPAddress, device: NIONetworkDevice) async throws {
            let group = try SocketAddress(ipAddress: "224.0.0.251", port: 5353)
            guard let name = MulticastDNSName(name), let own = device.address?.ipAddress else {
                throw ConnectionError.noAddress
            }
            let answer = MulticastDNSMessage.response(for: name, addresses: [address]).encoded()
            // A socket that is bound to the interface sends there whatever the routes are, and receives the group's
            // datagrams by its membership.
            let sender = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .bind(host: own, port: 0).get()
            channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.socketOption(.so_reuseaddr), value: 1)
                .channelOption(.socket(SocketOptionLevel(1), 15), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            Handler(name: name, answer: answer, group: group, sender: sender))
                    }
                }
                .bind(host: "0.0.0.0", port: 5353).get()
            guard let multicast = channel as? any MulticastChannel else { return }
            try await multicast.joinGroup(group, device: device).get()
        }

        func close() async throws {
            try await channel.close()
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        private let name: MulticastDNSName
        private let answer: [UInt8]
        private let group: SocketAddress
        private let sender: any Channel

        init(name: MulticastDNSName, answer: [UInt8], group: SocketAddress, sender: any Channel) {
            self.name = name
            self.answer = answer
            self.group = group
            self.sender = sender
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data).data
            guard let query = try? MulticastDNSMessage(parsing: bytes.readableBytesSpan), !query.isResponse,
                query.questions.contains(where: { $0.name == name && $0.type == .a })
            else { return }
            let envelope = AddressedEnvelope(remoteAddress: group, data: ByteBuffer(bytes: answer))
            sender.writeAndFlush(envelope, promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            sender.close(promise: nil)
        }
    }
}
