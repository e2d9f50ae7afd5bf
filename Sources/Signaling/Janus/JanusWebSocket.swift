internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket
internal import RTCShareNetworkRuntime
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// Janus over a WebSocket (RFC 6455): requests, answers and what comes by itself are texts of one connection, whose end is the
/// session's too.
final class JanusWebSocket: JanusTransport {
    let arrivals: AsyncThrowingStream<JanusMessage, any Error>
    let keepalivePause: Duration? = .seconds(25)
    private let channel: any Channel

    private static let subprotocol = "janus-protocol"
    private static let connectTime = TimeAmount.seconds(10)
    private static let mostMessageBytes = 1 << 20

    private init(_ channel: any Channel, _ arrivals: AsyncThrowingStream<JanusMessage, any Error>) {
        self.channel = channel
        self.arrivals = arrivals
    }

    /// Connects.
    /// - Throws: ``HTTPClientError``, ``JanusError``.
    static func open(_ url: WebAddress, on eventLoopGroup: MultiThreadedEventLoopGroup) async throws -> JanusWebSocket {
        let (arrivals, continuation) = AsyncThrowingStream.makeStream(of: JanusMessage.self)
        do {
            let upgraded = try await ClientBootstrap(group: eventLoopGroup)
                .connectTimeout(connectTime)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: url.hostName, port: url.port) { channel in
                    // All of it before the connection is there: what fails with it fails the upgrade.
                    channel.eventLoop.makeCompletedFuture {
                        if url.isSecure { try channel.pipeline.syncOperations.addHandler(security(to: url)) }
                        return try upgrade(channel, url, continuation)
                    }
                }
            return JanusWebSocket(try await upgraded.get(), arrivals)
        } catch let error as JanusError {
            throw error
        } catch TLSError.untrusted {
            throw HTTPClientError.certificate("wss" + url.origin.dropFirst(5))
        } catch {
            let place = url.isSecure ? "wss" + url.origin.dropFirst(5) : "ws" + url.origin.dropFirst(4)
            throw HTTPClientError.unreachable(place, reason(of: error))
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
        case TLSError.notTLS: "what answers there does not speak TLS"
        default: SocketFailure.reason(of: error)
        }
    }

    /// Has the connection become a WebSocket, which the future gives.
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

    func send(_ request: JanusRequest) async throws {
        let text = try JSONEncoder().encode(request)
        let frame = WebSocketFrame(
            fin: true, opcode: .text, maskKey: .random(), data: channel.allocator.buffer(bytes: text))
        do {
            try await channel.writeAndFlush(frame)
        } catch {
            throw JanusError.connectionClosed
        }
    }

    /// All of it comes by itself.
    func follow(session: UInt64) {}

    func close() { channel.close(promise: nil) }
}

/// Reads texts of Janus, and answers what keeps a WebSocket open.
private final class JanusFrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
    private let decoder = JSONDecoder()

    init(_ continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            // What can't be read is nothing that was waited for.
            if let message = try? decoder.decode(JanusMessage.self, from: Data(frame.unmaskedData.readableBytesView)) {
                continuation.yield(message)
            }
        case .ping: reply(.pong, frame.unmaskedData, context)
        case .connectionClose:
            reply(.connectionClose, frame.unmaskedData, context)
            context.close(promise: nil)
        default: return
        }
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
