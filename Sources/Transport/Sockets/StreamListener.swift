internal import NIOCore
internal import NIOPosix
internal import RTCShareWireFormat

/// A TCP listener of one connection, for peers that open connections to it (RFC 6544).
///
/// It is used on its event loop.
final class StreamListener {
    /// The address of the listener.
    let address: TransportAddress
    private let channel: any Channel

    /// The maximum number of connections whose first request has not arrived.
    private static let silentLimit = 16

    private init(channel: any Channel, address: TransportAddress) {
        self.channel = channel
        self.address = address
    }

    /// Listens at an address on `eventLoop`, whose actor the caller must be. `take` is called there with each connection
    /// that begins with a request of ICE. Others are closed.
    static func open(
        at address: TransportAddress, on eventLoop: any EventLoop, take: @escaping (IncomingStream) -> Void
    ) async throws -> StreamListener {
        let state = NIOLoopBoundBox(State(take: take), eventLoop: eventLoop)
        let channel = try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    state.value.add(channel)
                    channel.closeFuture.assumeIsolated().whenComplete { _ in state.value.remove(channel) }
                    let observer = IncomingStreamObserver(didMove: { _ in }, isProven: { _ in })
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(IncomingStreamHandler(observer: observer) { state.value.take($0) })
                    try pipeline.addHandler(StrangerHandler())
                }
            }
            .bind(to: address.socketAddress).get()
        guard let bound = channel.localAddress.flatMap({ TransportAddress($0) }) else {
            channel.close(promise: nil)
            throw ConnectionError.addressUnusable(address, reason: "the system gave the listener no address")
        }
        return StreamListener(channel: channel, address: bound)
    }

    private struct State {
        let take: (IncomingStream) -> Void
        /// The connections without a request, the oldest first.
        private var silent: [any Channel] = []

        init(take: @escaping (IncomingStream) -> Void) { self.take = take }

        /// Adds a connection. At the limit, it closes the oldest.
        mutating func add(_ channel: any Channel) {
            silent.append(channel)
            if silent.count > StreamListener.silentLimit { silent.removeFirst().close(promise: nil) }
        }

        mutating func remove(_ channel: any Channel) { silent.removeAll { $0 === channel } }
    }

    func close() { channel.close(promise: nil) }

    deinit { channel.close(promise: nil) }
}

/// Closes a connection that sends anything else than a request of ICE, or nothing.
private final class StrangerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let patience = TimeAmount.seconds(5)
    private var deadline: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
