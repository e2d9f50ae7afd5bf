internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareWireFormat

/// The number of bytes of the current request. It belongs to one event loop.
final class RequestSize {
    private let limit: Int
    private var count = 0

    init(limits: HTTPServer.Limits) { limit = limits.headBytes + limits.bodyBytes }

    /// Adds bytes. Returns false if the request exceeds the limit.
    func add(_ bytes: Int) -> Bool {
        count += bytes
        return count <= limit
    }

    func reset() { count = 0 }
}

/// Closes a connection whose request never ends: the parser keeps a head as long as it grows.
final class RequestSizeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let size: RequestSize

    init(size: RequestSize) { self.size = size }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard size.add(unwrapInboundIn(data).readableBytes) else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}

/// Tells a waiting client to send the body of its request (RFC 9110 §10.1.1).
final class ExpectationHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data), head.version == .http1_1,
            head.headers["Expect"].contains(where: { $0.lowercased() == "100-continue" }),
            head.headers.first(name: "Content-Length").map({ Int($0).map { $0 <= limit } ?? false }) ?? true
        {
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
        }
        context.fireChannelRead(data)
    }
}

/// A client's connection, whose requests are answered one after the other.
final class HTTPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let limiter: ConnectionLimiter
    private let limits: HTTPServer.Limits
    private let size: RequestSize
    private let isSecure: Bool
    private let logger: Logger
    private let respond: HTTPServer.Respond
    private var deadline: Scheduled<Void>?
    /// The task that sends a stream.
    private var streaming: Task<Void, Never>?
    /// Whether a request has arrived whose response has not been sent yet.
    private var isAnswering = false
    private var isEnding = false

    init(
        limiter: ConnectionLimiter, limits: HTTPServer.Limits, size: RequestSize, isSecure: Bool, logger: Logger,
        respond: @escaping HTTPServer.Respond
    ) {
        self.limiter = limiter
        self.limits = limits
        self.size = size
        self.isSecure = isSecure
        self.logger = logger
        self.respond = respond
    }

    func handlerAdded(context: ChannelHandlerContext) { close(context, after: limits.requestTime) }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        streaming?.cancel()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Clients without TLS, or that disconnect, are not worth a warning.
        logger.debug("a connection of \(peer(context)?.description ?? "somebody") ends: \(error)")
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is HTTPServer.Ending, !isEnding else { return context.fireUserInboundEventTriggered(event) }
        isEnding = true
        if !isAnswering { context.close(promise: nil) }
    }

    private func close(_ context: ChannelHandlerContext, after time: Duration) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            context.close(promise: nil)
        }
    }

    private func peer(_ context: ChannelHandlerContext) -> IPAddress? {
        context.channel.remoteAddress?.unmappedIP
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let full = unwrapInboundIn(data)
        deadline?.cancel()
        size.reset()
        isAnswering = true
        limiter.update(context.channel) { $0.beginAnswer($1) }
        let isHead = full.head.method == .HEAD
        let keepsAlive = full.head.isKeepAlive
        guard let target = HTTPTarget(full.head.uri) else {
            let problem = ProblemDetails(.badRequest, "this server has no such path")
            let response = problem.response(to: full.head.method, full.head.headers, root: "/")
            return write(response, context, isHead: isHead, keepsAlive: false)
        }
        let request = HTTPRequest(
            method: full.head.method, target: target, headers: full.head.headers,
            body: full.body.map { Array($0.readableBytesView) } ?? [], peer: peer(context), isSecure: isSecure)
        let promise = context.eventLoop.makePromise(of: HTTPResponse.self)
        // `completeWithTask` would start on another executor.
        Task { @SharingActor [respond] in promise.succeed(await respond(request)) }
        promise.futureResult.assumeIsolated().whenSuccess {
            self.write($0, context, isHead: isHead, keepsAlive: keepsAlive)
        }
    }

    private func write(
        _ response: HTTPResponse, _ context: ChannelHandlerContext, isHead: Bool, keepsAlive: Bool
    ) {
        guard context.channel.isActive else {
            if let notTaken = response.notTaken { SharingActor.post(notTaken) }
            return
        }
        if response.isForInvited { limiter.update(context.channel) { $0.setInvited($1) } }
        var headers = response.headers
        headers.replaceOrAdd(name: "Date", value: HTTPDate.now())
        if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = { HTTPResponseHead(version: .http1_1, status: response.status, headers: headers) }
        close(context, after: limits.stallTime)
        switch response.body {
        case .bytes(let bytes):
            if response.status.mayHaveResponseBody {
                headers.replaceOrAdd(name: "Content-Length", value: String(bytes.count))
            }
            context.write(wrapOutboundOut(.head(head())), promise: nil)
            if !isHead, !bytes.isEmpty {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            end(context, keepsAlive: keepsAlive)
        case .stream(let stream):
            headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
            context.writeAndFlush(wrapOutboundOut(.head(head())), promise: nil)
            send(stream, context, keepsAlive: keepsAlive)
        }
    }

    private func end(_ context: ChannelHandlerContext, keepsAlive: Bool) {
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess {
            guard keepsAlive, !self.isEnding, context.channel.isActive else { return context.close(promise: nil) }
            self.isAnswering = false
            self.limiter.update(context.channel) { $0.endAnswer($1) }
            self.close(context, after: self.limits.idleTime)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Sends a stream, one piece after the other. A client that reads nothing is disconnected.
    private func send(_ stream: AsyncStream<[UInt8]>, _ context: ChannelHandlerContext, keepsAlive: Bool) {
        let place = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        deadline?.cancel()
        streaming = Task {
            for await bytes in stream {
                let isSent: Void? = try? await eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
                    let (handler, context) = place.value
                    guard context.channel.isActive else {
                        return context.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                    }
                    handler.close(context, after: handler.limits.stallTime)
                    let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes)))
                    return context.writeAndFlush(handler.wrapOutboundOut(part))
                }.get()
                guard isSent != nil else { return }
                eventLoop.execute { place.value.0.deadline?.cancel() }
            }
            guard !Task.isCancelled else { return }
            eventLoop.execute {
                let (handler, context) = place.value
                handler.streaming = nil
                handler.end(context, keepsAlive: keepsAlive)
            }
        }
    }
}
