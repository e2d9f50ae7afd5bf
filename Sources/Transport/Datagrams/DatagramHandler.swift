internal import NIOCore
internal import NIOPosix
internal import RTCShareWireFormat

/// Passes received datagrams to the owner of a socket.
final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    struct Listener {
        /// Called with a datagram and its source.
        var receive: (inout ByteBuffer, TransportAddress) -> Void
        /// Called at the end of the socket.
        var closed: () -> Void = {}
    }

    var listener: Listener?
    private let loop: ConnectionLoop
    private var isReading = false

    init(on eventLoop: any EventLoop) {
        loop = .of(eventLoop)
    }

    /// Returns an initializer that adds a handler. If it is passed to `bind`, SwiftNIO closes a channel that can't be bound;
    /// with `channelInitializer` it leaves its descriptor open.
    static func initializer(
        _ make: @escaping @Sendable (any EventLoop) -> DatagramHandler
    ) -> @Sendable (any Channel) -> EventLoopFuture<any Channel> {
        { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(make(channel.eventLoop))
                return channel
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The answers to all datagrams of a read are sent together.
        if !isReading {
            isReading = true
            loop.beginGathering()
        }
        var envelope = unwrapInboundIn(data)
        guard let source = TransportAddress(envelope.remoteAddress) else { return }
        listener?.receive(&envelope.data, source)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        endReading()
        context.fireChannelReadComplete()
    }

    private func endReading() {
        guard isReading else { return }
        isReading = false
        loop.endGathering()
    }

    func channelInactive(context: ChannelHandlerContext) {
        endReading()
        listener?.closed()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A receive error (an ICMP answer to a sent datagram) adds nothing to the results of ICE's own checks.
    }
}
