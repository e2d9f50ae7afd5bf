internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import RTCShareLocks
internal import RTCShareSecureTransport
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Janus over a WebSocket (RFC 6455): requests, answers and events are text messages of one connection. Its end is also
/// that of the session.
final class JanusWebSocket: JanusTransport {
    let arrivals: AsyncThrowingStream<JanusMessage, any Error>
    let keepalivePause: Duration? = .seconds(25)
    private let channel: any Channel

    private static let subprotocol = "janus-protocol"
    /// The timeout for the connection and the upgrade together.
    private static let openingTime = Duration.seconds(10)
    private static let mostMessageBytes = 1 << 20

    private init(_ channel: any Channel, _ arrivals: AsyncThrowingStream<JanusMessage, any Error>) {
        self.channel = channel
        self.arrivals = arrivals
    }

    /// Connects, within `patience`.
    /// - Throws: ``HTTPClientError``, ``JanusError``, `CancellationError`.
    static func open(
        _ url: WebAddress, on eventLoopGroup: MultiThreadedEventLoopGroup, patience: Duration = openingTime
    ) async throws -> JanusWebSocket {
        let (arrivals, continuation) = AsyncThrowingStream.makeStream(
            of: JanusMessage.self, bufferingPolicy: .bufferingOldest(mostMessagesWaiting))
        let attempt = ConnectionAttempt()
        let deadline = Task {
            if (try? await Task.sleep(for: patience)) != nil { attempt.end(for: .late) }
        }
        defer { deadline.cancel() }
        let translation = await ServerNames.translation(ofHost: url.hostName)
        do {
            let channel = try await withTaskCancellationHandler {
                try await ClientBootstrap(group: eventLoopGroup)
                    .connectTimeout(TimeAmount(patience))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: translation?.description ?? url.hostName, port: url.port) { channel in
                        // All of it before the connection exists: a failure of the connection fails the upgrade.
                        channel.eventLoop.makeCompletedFuture {
                            try attempt.add(channel)
                            if url.isSecure { try channel.pipeline.syncOperations.addHandler(security(to: url)) }
                            return try upgrade(channel, url, continuation)
                        }
                    }.get()
            } onCancel: {
                attempt.end(for: .cancelled)
            }
            try attempt.succeed()
            return JanusWebSocket(channel, arrivals)
        } catch {
            let place = (url.isSecure ? "wss" : "ws") + url.origin.dropFirst(url.isSecure ? 5 : 4)
            switch (attempt.end, error) {
            case (.cancelled, _): throw CancellationError()
            case (.late, _): throw HTTPClientError.unreachable(place, "it does not answer")
            case (nil, is JanusError): throw error
            case (nil, TLSError.untrusted): throw HTTPClientError.certificate(place)
            case (nil, _): throw HTTPClientError.unreachable(place, reason(of: error))
            }
        }
    }

    private static func security(to url: WebAddress) throws(TLSError) -> TLSHandler {
        let roots = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
        let context = try TLSContext(trusting: roots?.isEmpty == false ? roots : nil)
        return TLSHandler(
            try TLSConnection(to: url.hostName, isAddress: IPAddress(url.hostName) != nil, context))
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case TLSError.notTLS: "the server does not use TLS on this port"
        default: SocketFailure.reason(of: error)
        }
    }

    /// Upgrades the connection to a WebSocket.
    private static func upgrade(
        _ channel: any Channel, _ url: WebAddress,
        _ continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
    ) throws -> EventLoopFuture<any Channel> {
        let upgrader = NIOTypedWebSocketClientUpgrader<any Channel>(maxFrameSize: mostMessageBytes) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 256,
                        maxAccumulatedFrameSize: mostMessageBytes))
                try pipeline.addHandler(JanusFrameHandler(continuation))
                return channel
            }
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: url.requestTarget)
        head.headers.add(name: "Host", value: url.authority)
        head.headers.add(name: "Sec-WebSocket-Protocol", value: subprotocol)
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<any Channel>(
            upgradeRequestHead: head, upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(JanusError.noJanus(status: nil, sentence: nil))
            })
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration))
    }

    @concurrent func send(_ request: JanusRequest) async throws {
        let text = try JSONEncoder().encode(request)
        let frame = WebSocketFrame(
            fin: true, opcode: .text, maskKey: .random(), data: channel.allocator.buffer(bytes: text))
        do {
            try await channel.writeAndFlush(frame)
        } catch {
            throw JanusError.connectionClosed
        }
    }

    /// Does nothing, because events arrive by themselves.
    func poll(session: UInt64) {}

    func close() { channel.close(promise: nil) }
}

/// Connections, one of which becomes a WebSocket. They are closed after the timeout, or on cancellation.
private final class ConnectionAttempt: Sendable {
    enum End {
        case late, cancelled
    }

    private struct State {
        var channels: [any Channel] = []
        var end: End?
    }

    private let state = Locked(State())

    /// The reason why it was ended; nil if it was not.
    var end: End? { state.withLock { $0.end } }

    func add(_ channel: any Channel) throws(CancellationError) {
        let isOver = state.withLock { state in
            state.channels.append(channel)
            return state.end != nil
        }
        if isOver { throw CancellationError() }
    }

    func end(for reason: End) {
        let channels = state.withLock { state in
            state.end = state.end ?? reason
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels { channel.close(promise: nil) }
    }

    /// Keeps the connection, which has succeeded.
    func succeed() throws(CancellationError) {
        let isOver = state.withLock { state in
            state.channels = []
            return state.end != nil
        }
        if isOver { throw CancellationError() }
    }
}
