package import NIOCore
package import RTCShareSecureTransport

/// The event of a successful handshake, after which written data is sent.
package struct TLSHandshakeCompleted: Sendable {}

/// Adds TLS between a channel's stream and its other handlers. Data that they write before the end of the handshake
/// waits.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let connection: TLSConnection
    private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var isThrough = false
    private var hasEnded = false

    package init(_ connection: TLSConnection) { self.connection = connection }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        connection.start()
        flushOutgoing(context)
    }

    // MARK: Reading

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = unwrapInboundIn(data).withUnsafeReadableBytes { connection.receive($0) }
        flushOutgoing(context)
        if !isThrough, connection.state == .connected || !text.isEmpty {
            isThrough = true
            context.fireUserInboundEventTriggered(TLSHandshakeCompleted())
            writeWaiting(context)
        }
        if !text.isEmpty { context.fireChannelRead(wrapInboundOut(context.channel.allocator.buffer(bytes: text))) }
        endIfOver(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        connection.streamEnded()
        endIfOver(context)
        failWaiting()
        context.fireChannelInactive()
    }

    /// Notifies the other handlers of the connection's end, once.
    private func endIfOver(_ context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        switch connection.state {
        case .new, .handshaking, .connected: return
        case .closed: hasEnded = true
        case .failed(let error):
            hasEnded = true
            context.fireErrorCaught(error)
        }
        failWaiting()
        context.close(promise: nil)
    }

    // MARK: Writing

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        guard !hasEnded else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard isThrough else { return waiting.append((bytes, promise)) }
        encrypt(bytes, context, promise)
    }

    private func encrypt(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        bytes.withUnsafeReadableBytes { connection.send($0) }
        let record = context.channel.allocator.buffer(bytes: connection.takeOutgoing())
        context.write(wrapOutboundOut(record), promise: promise)
        endIfOver(context)
    }

    private func writeWaiting(_ context: ChannelHandlerContext) {
        guard !waiting.isEmpty else { return }
        let written = waiting
        waiting = []
        for (bytes, promise) in written { encrypt(bytes, context, promise) }
        context.flush()
    }

    private func failWaiting() {
        let unwritten = waiting
        waiting = []
        for (_, promise) in unwritten { promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    private func flushOutgoing(_ context: ChannelHandlerContext) {
        let bytes = connection.takeOutgoing()
        guard !bytes.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input {
            hasEnded = true
            connection.close()
            flushOutgoing(context)
            failWaiting()
        }
        context.close(mode: mode, promise: promise)
    }
}
