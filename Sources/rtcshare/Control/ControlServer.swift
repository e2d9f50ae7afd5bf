internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareLocks

/// Takes requests at a share's socket, one line each, and answers them in order.
///
/// Who asks is of this user, or root. A client that sends no line, or too long a one, one that is not understood, or
/// nothing for a while, is told so or let go, and disturbs neither the share nor other clients.
final class ControlServer: Sendable {
    typealias Respond = @Sendable (ControlRequest) async -> ControlAnswer

    /// How patient it is.
    struct Limits: Sendable {
        /// How long a client may take for a request, or to take an answer.
        var patience = Duration.seconds(10)
        /// The clients at a time; more are turned away.
        var clients = 16
    }

    private let channel: any Channel
    private let socket: ControlSocket

    private init(channel: any Channel, socket: ControlSocket) {
        self.channel = channel
        self.socket = socket
    }

    /// Answers at a socket that listens.
    static func start(
        _ listening: ControlSocket.Listening, limits: Limits = Limits(), respond: @escaping Respond
    ) async throws -> ControlServer {
        let group = MultiThreadedEventLoopGroup.singleton
        let door = Door(limit: limits.clients)
        let channel = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { child in
                door.admit(child).flatMapThrowing {
                    try child.pipeline.syncOperations.addHandler(
                        ControlHandler(limits: limits, respond: respond))
                }
            }
            .withBoundSocket(listening.descriptor).get()
        return ControlServer(channel: channel, socket: listening.socket)
    }

    /// Listens no more. Answers under way are still given.
    func close() async {
        socket.remove()
        try? await channel.close()
    }
}

/// Who is let in.
private final class Door: Sendable {
    private enum Refusal: Error { case tooMany, stranger }

    private let places: Locked<Int>

    init(limit: Int) { places = Locked(limit) }

    func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        let isFree = places.withLock { places in
            places -= 1
            return places >= 0
        }
        channel.closeFuture.whenComplete { _ in self.places.withLock { $0 += 1 } }
        guard isFree, let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(Refusal.tooMany)
        }
        let peer: EventLoopFuture<SocketPeer> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return peer.flatMapThrowing { peer in
            guard peer.isTrusted(by: geteuid()) else { throw Refusal.stranger }
        }
    }
}

/// One client: takes a line, has it answered, and only then reads on.
private final class ControlHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limits: ControlServer.Limits
    private let respond: ControlServer.Respond
    private var received = ByteBuffer()
    private var isAnswering = false
    private var isInputClosed = false
    private var deadline: Scheduled<Void>?

    init(limits: ControlServer.Limits, respond: @escaping ControlServer.Respond) {
        self.limits = limits
        self.respond = respond
    }

    func handlerAdded(context: ChannelHandlerContext) { setDeadline(context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        takeLine(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else { return }
        isInputClosed = true
        if !isAnswering { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// A client that takes its time is let go.
    private func setDeadline(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.patience)) {
            context.close(promise: nil)
        }
    }

    private func takeLine(_ context: ChannelHandlerContext) {
        guard !isAnswering else { return }
        guard
            let length = received.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map({ $0 - received.readerIndex }
            )
        else {
            guard received.readableBytes > ControlLine.maximumRequestBytes else { return }
            let limit = ControlLine.maximumRequestBytes
            return answer(
                .failed(status: 65, reason: "a request of more than \(limit) bytes is none", remedy: nil), context,
                isLast: true)
        }
        guard length <= ControlLine.maximumRequestBytes, let line = received.readBytes(length: length) else {
            return answer(.failed(status: 65, reason: "the request is too long", remedy: nil), context, isLast: true)
        }
        received.moveReaderIndex(forwardBy: 1)
        received.discardReadBytes()
        guard let request = try? ControlLine.decode(ControlRequest.self, from: line) else {
            return answer(
                .failed(
                    status: 64, reason: "the share does not understand this request",
                    remedy: "end the share and start it with this version of rtcshare"),
                context, isLast: true)
        }
        isAnswering = true
        deadline?.cancel()
        // What comes meanwhile waits with the client.
        context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
        let promise = context.eventLoop.makePromise(of: ControlAnswer.self)
        promise.completeWithTask { [respond] in await respond(request) }
        promise.futureResult.assumeIsolated().whenSuccess { self.answer($0, context, isLast: false) }
    }

    private func answer(_ answer: ControlAnswer, _ context: ChannelHandlerContext, isLast: Bool) {
        isAnswering = true
        guard let bytes = try? ControlLine.encode(answer) else { return context.close(promise: nil) }
        // Whatever else it says is heard no more.
        if isLast { context.channel.setOption(.autoRead, value: false).whenFailure { _ in } }
        setDeadline(context)
        let written = context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)))
        // Where the client is gone, what it asked beyond this is not done.
        written.assumeIsolated().whenSuccess { _ in
            guard !isLast, !self.isInputClosed else { return context.close(promise: nil) }
            self.isAnswering = false
            self.setDeadline(context)
            context.channel.setOption(.autoRead, value: true).whenFailure { _ in }
            self.takeLine(context)
        }
    }
}
