internal import FoundationEssentials
internal import NIOCore
internal import NIOPosix
internal import NIOWebSocket

/// Reads text messages of Janus, and answers pings.
final class JanusFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
    private let decoder = JSONDecoder()
    private var pongs = PongQueue<ByteBuffer>()

    init(_ continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            // A message that can't be parsed is ignored.
            if let message = try? decoder.decode(JanusMessage.self, from: Data(frame.unmaskedData.readableBytesView)) {
                if case .dropped = continuation.yield(message) { context.close(promise: nil) }
            }
        case .ping: if let data = pongs.take(frame.unmaskedData) { sendPong(data, context) }
        case .connectionClose:
            reply(.connectionClose, frame.unmaskedData, context)
            context.close(promise: nil)
        default: return
        }
    }

    private func sendPong(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
        let sent = context.eventLoop.makePromise(of: Void.self)
        let context = context.loopBound
        sent.futureResult.assumeIsolated().whenSuccess { [self] in
            if let next = pongs.sent() { sendPong(next, context.value) }
        }
        let frame = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
        context.value.writeAndFlush(wrapOutboundOut(frame), promise: sent)
    }

    private func reply(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        continuation.finish(throwing: JanusError.connectionClosed)
        context.fireChannelInactive()
    }
}

/// The answers to pings: one that is being sent, and the next one. An unanswered ping is dropped with the next one (RFC
/// 6455 §5.5.3), so that a server that reads nothing can't fill the memory.
struct PongQueue<Data> {
    private var isSending = false
    private var next: Data?

    /// Adds a ping's data; returns the data to send now, if any.
    mutating func take(_ data: Data) -> Data? {
        guard isSending else {
            isSending = true
            return data
        }
        next = data
        return nil
    }

    /// Records that the answer was sent; returns the next one, if any.
    mutating func sent() -> Data? {
        defer { next = nil }
        isSending = next != nil
        return next
    }
}
