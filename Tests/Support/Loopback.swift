internal import NIOCore
internal import NIOPosix
package import RTCSharePeerConnection
package import RTCShareRTP
internal import RTCShareSTUN
package import RTCShareTransport
package import RTCShareWireFormat

/// A sender and a viewer on this machine's loopback interface, with real sockets and real time.
package enum Loopback {
    package static let v4 = IPAddress.v4(0x7F00_0001)
    package static let v6 = IPAddress.v6(0, 1)

    package static func makeIdentity(sends: Bool) throws -> LocalIdentity {
        var random = SystemRandomNumberGenerator()
        return try LocalIdentity(
            media: sends ? [.video(streamID: "alice#content", isContent: true)] : [], unixTime: 1_700_000_000,
            random: &random)
    }

    package static func open(
        as part: PeerConnection.Part, at address: IPAddress = v4, port: UInt16 = 0
    ) async throws -> Connection {
        var configuration = Connection.Configuration()
        configuration.addresses = [address]
        configuration.port = port
        return try await Connection(
            as: part, identity: try makeIdentity(sends: part == .offerer), configuration: configuration)
    }

    /// Returns a frame of several packets that begins like VP8 (RFC 6386 §9.1).
    package static func frame(isKeyFrame: Bool, number: UInt16) -> PacketizedFrame {
        let start: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02] : [0x11, 0, 0]
        let bytes = start + (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(number)) }
        return PacketizedFrame(
            bytes, format: .vp8, number: FrameNumber(number), isKeyFrame: isKeyFrame,
            captureTime: .milliseconds(Int(number) * 33), width: 1280, height: 720)
    }
}

/// A STUN server whose response the test determines.
package final class StunResponder: Sendable {
    package let address: TransportAddress
    private let channel: any Channel

    /// Creates a server that answers each Binding request with `mapped`, or never if that is nil.
    package init(mapped: TransportAddress?) async throws {
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(mapped: mapped))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        address = TransportAddress(ip: Loopback.v4, port: UInt16(channel.localAddress?.port ?? 0))
    }

    package func close() async throws {
        try await channel.close()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>
        private let mapped: TransportAddress?

        init(mapped: TransportAddress?) {
            self.mapped = mapped
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            guard let mapped, let request = try? STUNMessage(parsing: envelope.data.readableBytesSpan),
                request.messageClass == .request
            else { return }
            let response = STUNMessage(
                .successResponse, transactionID: request.transactionID, attributes: [.xorMappedAddress(mapped)])
            guard let bytes = try? response.encoded() else { return }
            let answer = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: bytes))
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }
}
