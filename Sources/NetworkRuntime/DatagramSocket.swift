internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import WireFormat

/// Opens the UDP sockets of a connection. Each is bound to one local address, so that what arrives says by its socket
/// where it was sent to, and what leaves says it by the socket too.
struct DatagramSocket {
    /// The channel, which lives on the connection's event loop.
    let channel: any Channel
    /// Where it is bound, with the port that the system picked where none was asked for.
    let address: TransportAddress

    /// Binds a socket on `eventLoop`; `receive` hears each datagram there, `closed` the end of the socket, whoever ended it.
    static func open(
        at address: TransportAddress, on eventLoop: any EventLoop,
        receive: @escaping @Sendable (inout ByteBuffer, TransportAddress) -> Void,
        closed: @escaping @Sendable () -> Void
    ) async throws -> DatagramSocket {
        do {
            let channel = try await DatagramBootstrap(group: eventLoop)
                // A vector read shares one buffer among its messages: each gets room for the largest packet of a path
                // with Ethernet's MTU.
                .channelOption(.datagramVectorReadMessageCount, value: 16)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
                // A key frame is hundreds of packets; those the pacer lets go must not be refused here.
                .channelOption(
                    .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 19, high: 1 << 20)
                )
                .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
                .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            DatagramHandler(receive: receive, closed: closed))
                    }
                }
                .bind(to: address.socketAddress).get()
            guard let bound = channel.localAddress.flatMap(TransportAddress.init) else {
                channel.close(promise: nil)
                throw ConnectionError.addressUnusable(address, reason: "the system gave the socket no address")
            }
            return DatagramSocket(channel: channel, address: bound)
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ConnectionError.portTaken(address)
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL {
            throw ConnectionError.addressUnusable(
                address,
                reason: "no interface of this machine has it; "
                    + "if the network changed since the offer, make a new one")
        } catch let error as IOError where error.errnoCode == EINVAL {
            throw ConnectionError.addressUnusable(
                address, reason: "a socket can't be bound to it alone; give a global or a loopback address")
        } catch let error as IOError where error.errnoCode == EACCES {
            throw ConnectionError.addressUnusable(address, reason: "ports below 1024 belong to root")
        } catch let error as IOError {
            throw ConnectionError.addressUnusable(address, reason: String(cString: strerror(error.errnoCode)))
        }
    }

    /// Hands a datagram to the socket; it leaves at the next flush.
    func write(_ bytes: ByteBuffer, to destination: TransportAddress) throws {
        channel.write(AddressedEnvelope(remoteAddress: try destination.socketAddress, data: bytes), promise: nil)
    }
}

/// Tells the owner of a socket what arrived.
final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: @Sendable (inout ByteBuffer, TransportAddress) -> Void
    private let closed: @Sendable () -> Void

    init(
        receive: @escaping @Sendable (inout ByteBuffer, TransportAddress) -> Void,
        closed: @escaping @Sendable () -> Void
    ) {
        self.receive = receive
        self.closed = closed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var envelope = unwrapInboundIn(data)
        guard let source = TransportAddress(envelope.remoteAddress) else { return }
        receive(&envelope.data, source)
    }

    func channelInactive(context: ChannelHandlerContext) {
        closed()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A receive error (an ICMP answer to something sent) says nothing that ICE's own checks don't find out.
    }
}
