internal import Glibc
package import NIOCore
internal import NIOPosix
internal import RTCShareWireFormat

/// Takes a connection from its channel if it begins with a STUN request of ICE, in the framing of RFC 4571. Connections
/// with other protocols are left to the next handlers.
///
/// The first byte tells them apart: HTTP begins with a letter, TLS with the byte 22 (RFC 8446 §5.1), and such a request
/// with the upper half of its length. Whoever sent it is unknown until a whole request is there, which must be soon.
package final class IncomingStreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer

    /// The maximum length of a request in bytes. Those of browsers have some 120.
    private static let longestRequest = 1023
    /// The timeout for the first request.
    private static let patience = TimeAmount.seconds(5)

    private let observer: IncomingStreamObserver
    private let take: @Sendable (IncomingStream) -> Void
    private var received = ByteBuffer()
    private var deadline: Scheduled<Void>?

    /// Creates a handler that passes connections to those of a shared port.
    package convenience init(port: SharedPort, observer: IncomingStreamObserver) {
        self.init(observer: observer) { port.take($0) }
    }

    init(observer: IncomingStreamObserver, take: @escaping @Sendable (IncomingStream) -> Void) {
        self.observer = observer
        self.take = take
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard bytes.readableBytes > 0 else { return }
        if received.readableBytes == 0, !Self.beginsRequest(bytes) {
            context.fireChannelRead(data)
            return context.pipeline.syncOperations.removeHandler(self, promise: nil)
        }
        if deadline == nil {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                context.close(promise: nil)
            }
        }
        received.writeBuffer(&bytes)
        guard received.readableBytes <= 4 * Self.longestRequest else { return context.close(promise: nil) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        guard received.readableBytes > 0 else { return context.fireChannelReadComplete() }
        guard let length = received.getInteger(at: received.readerIndex, as: UInt16.self),
            received.readableBytes >= 2 + Int(length)
        else { return }
        handOver(context)
    }

    package func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    private static func beginsRequest(_ bytes: ByteBuffer) -> Bool {
        bytes.getInteger(at: bytes.readerIndex, as: UInt8.self).map { $0 <= longestRequest >> 8 } ?? false
    }

    private func handOver(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        defer { received = ByteBuffer() }
        guard let source = channel.remoteAddress.flatMap(TransportAddress.init(unmapping:)),
            let local = channel.localAddress.flatMap(TransportAddress.init(unmapping:)),
            // Nothing more is read here: the next bytes are for the other channel.
            (try? channel.syncOptions?.setOption(.autoRead, value: false)) != nil,
            let descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self, { fcntl($0, F_DUPFD_CLOEXEC, 0) }),
            descriptor >= 0
        else { return context.close(promise: nil) }
        take(
            IncomingStream(
                descriptor: descriptor, former: channel, received: received, source: source, local: local,
                observer: observer))
    }
}
