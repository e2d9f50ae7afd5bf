internal import NIOCore
internal import NIOPosix
internal import RTCShareCDatagrams
internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareWireFormat

/// A socket for only one destination: a TCP or TLS connection to a TURN server or to a peer, one that a peer has opened,
/// or a UDP socket in addition to a shared one. It opens by itself; data written before that waits, up to a limit.
///
/// It is used where it was created: on its connection's event loop.
final class DedicatedSocket {
    /// The identification of the socket: ICE identifies it by the base of the interface, whose port it does not have.
    struct Endpoint: Hashable, Sendable {
        let transport: TransportProtocol
        let base: TransportAddress
        let destination: TransportAddress

        init(transport: TransportProtocol, base: TransportAddress, destination: TransportAddress) {
            (self.transport, self.base, self.destination) = (transport, base, destination)
        }

        init(_ path: MediaPath) {
            self.init(transport: path.transport, base: path.base, destination: path.destination)
        }
    }

    /// The parameters of a socket.
    struct Setting: Sendable {
        var framing = StreamFraming.turn
        /// The name that the server's certificate must have.
        var host: String?
        var trustRoots: TrustRoots = .system
        /// The timeout for opening. TCP, and TLS on top, take a few round trips, and lost packets are retransmitted
        /// after 1, 3 and 7 s.
        var openingLimit: Duration = .seconds(10)
        /// The port to send datagrams from; 0 lets the system choose.
        var port: UInt16 = 0
        /// The connection that a peer has opened; nil for a socket of ours.
        var incoming: IncomingStream?
    }

    private enum State {
        case opening([ByteBuffer])
        case open(any Channel)
        case closed
    }

    let endpoint: Endpoint
    /// The port that it sends from, when it is open.
    private(set) var port: UInt16 = 0
    /// The number of dropped messages: the socket was not ready, or the route is slower than the media.
    private(set) var droppedMessages = 0
    private let eventLoop: any EventLoop
    /// The connection that a peer has opened, until ``keep()``.
    private var incoming: IncomingStream?
    private let receive: (inout ByteBuffer) -> Void
    private let writable: () -> Void
    private let ended: (String) -> Void
    private var state = State.opening([])
    private var opening: Scheduled<Void>?
    private var channel: (any Channel)?
    private var isUnflushed = false

    /// The maximum number of messages that wait for the opening: requests and checks, because media never starts that
    /// early.
    static let waitingLimit = 64
    /// The maximum number of waiting bytes here and in the kernel, from which on media wait in the pacer's queue: TCP
    /// must not turn a call into a queue that nobody sees. Both together are a sixth of a second at 300 kbit/s.
    private static let (queueLimit, unsentLimit) = (2 << 10, 4 << 10)
    /// The limit for messages that don't wait in the pacer's queue: checks, requests, handshakes and reports. They never
    /// reach it unless the peer accepts nothing more.
    private static let messageLimit = 64 << 10

    /// Starts to open. `receive` is called with each whole message, `writable` when a full connection has room again,
    /// and `ended` once with the reason why there is no socket any more. None is called before this returns, or after
    /// ``close()``.
    init(
        _ endpoint: Endpoint, setting: Setting, on eventLoop: any EventLoop,
        receive: @escaping (inout ByteBuffer) -> Void, writable: @escaping () -> Void = {},
        ended: @escaping (String) -> Void
    ) {
        self.endpoint = endpoint
        self.eventLoop = eventLoop
        incoming = setting.incoming
        isIncoming = setting.incoming != nil
        self.receive = receive
        self.writable = writable
        self.ended = ended
        let loop = eventLoop.assumeIsolated()
        opening = loop.scheduleTask(in: TimeAmount(setting.openingLimit)) { [weak self] in
            self?.end("nothing answers there, or a firewall drops it")
        }
        loop.execute { self.open(setting) }
    }

    deinit {
        opening?.cancel()
        channel?.close(mode: .all, promise: nil)
    }

    /// Writes a message, which is sent with the next ``flush()``.
    func write(_ message: ByteBuffer) {
        switch state {
        case .opening(var waiting):
            guard waiting.count < Self.waitingLimit else { return droppedMessages += 1 }
            // The array is moved, so that it is not copied.
            state = .closed
            waiting.append(message)
            state = .opening(waiting)
        case .open(let channel):
            guard hasRoom(in: channel) else { return droppedMessages += 1 }
            channel.write(message, promise: nil)
            isUnflushed = true
        case .closed: droppedMessages += 1
        }
    }

    private func hasRoom(in channel: any Channel) -> Bool {
        guard endpoint.transport.isStream, !channel.isWritable else { return true }
        guard let waiting = try? channel.syncOptions?.getOption(.bufferedWritableBytes) else { return false }
        return waiting < Self.messageLimit
    }

    /// Whether media must wait because the connection has accepted all that it can send soon.
    var isFull: Bool {
        guard endpoint.transport.isStream else { return false }
        guard case .open(let channel) = state, channel.isWritable else { return true }
        // The kernel applies the limit only to new segments, and adds up to 64 KiB to the last one.
        return Int(withDescriptor(of: channel, stream_unsent) ?? 0) >= Self.unsentLimit
    }

    /// Returns the progress of the connection; nil if there is none.
    func progress() -> StreamProgress? {
        guard case .open(let channel) = state else { return nil }
        var progress = stream_progress()
        guard withDescriptor(of: channel, { stream_read_progress($0, &progress) }) == 0 else { return nil }
        let waiting = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return StreamProgress(
            acknowledged: progress.acknowledged,
            delivered: progress.acknowledged + progress.selectively_acknowledged,
            unsent: Int(progress.unsent) + waiting, window: Int(clamping: progress.window),
            roundTripTime: .microseconds(Int64(progress.round_trip)),
            minimumRoundTripTime: .microseconds(Int64(progress.minimum_round_trip)))
    }

    private func withDescriptor(of channel: any Channel, _ call: (CInt) -> CInt) -> CInt? {
        try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, call)
    }

    /// Keeps a connection of a peer, which has shown that it knows the ICE password.
    func keep() {
        opening?.cancel()
        opening = nil
        if case .open(let channel) = state { incoming?.observer.isProven(channel) }
        incoming = nil
    }

    /// Whether a peer opened the connection.
    let isIncoming: Bool
    /// Whether a channel has taken the descriptor of the connection.
    private var isMoved = false
    /// The time of the last message.
    private(set) var lastReceived = MonotonicClock.now
    /// The seconds after which a silent peer's system is asked whether it is there, and for which sent bytes may stay
    /// without an acknowledgment: as long as consent lasts (RFC 7675).
    private static let (keepaliveTime, patience) = (SocketOptionValue(15), SocketOptionValue(30))

    /// Whether the peer that opened the connection has not shown yet that it knows the ICE password.
    var isUnproven: Bool { incoming != nil }

    /// Sends the written messages.
    func flush() {
        guard isUnflushed, case .open(let channel) = state else { return }
        isUnflushed = false
        channel.flush()
    }

    /// Closes the socket without calling `ended`.
    func close() {
        opening?.cancel()
        opening = nil
        state = .closed
        if !isMoved { incoming?.close() }
        incoming = nil
        channel?.close(mode: .all, promise: nil)
        channel = nil
    }

    private func end(_ reason: String) {
        if case .closed = state { return }
        close()
        ended(reason)
    }

    // MARK: Opening

    private func open(_ setting: Setting) {
        guard case .opening = state else { return }
        let handler: DedicatedSocketHandler
        var security: TLSHandler?
        do {
            handler = DedicatedSocketHandler(
                framing: endpoint.transport.isStream ? setting.framing : nil,
                isSecure: endpoint.transport == .tls,
                ready: { [weak self] in self?.becomeReady($0) },
                writable: { [weak self] in self?.writable() },
                receive: { [weak self] in self?.deliver(&$0) },
                ended: { [weak self] in self?.end($0) })
            if endpoint.transport == .tls {
                security = try TLSClient.handler(host: setting.host, trustRoots: setting.trustRoots)
            }
            let local = try TransportAddress(ip: endpoint.base.ip, port: setting.port).socketAddress
            let remote = try endpoint.destination.socketAddress
            let parts = NIOLoopBound(
                Parts(socket: self, handler: handler, security: security), eventLoop: eventLoop)
            let future =
                if let incoming = setting.incoming {
                    stream(incoming, parts)
                } else if endpoint.transport.isStream {
                    stream(from: local, to: remote, parts)
                } else {
                    datagrams(from: local, to: remote, parts)
                }
            future.assumeIsolated().whenFailure { [weak self] in self?.end(SocketFailure.reason(of: $0)) }
        } catch {
            end(SocketFailure.reason(of: error))
        }
    }

    /// The parts of a channel, for its creation by SwiftNIO.
    private struct Parts {
        weak var socket: DedicatedSocket?
        let handler: DedicatedSocketHandler
        let security: TLSHandler?
    }

    private func stream(
        from local: SocketAddress, to remote: SocketAddress, _ parts: NIOLoopBound<Parts>
    ) -> EventLoopFuture<Void> {
        streamBootstrap(parts)
            .connectTimeout(.seconds(60))
            .bind(to: local)
            .connect(to: remote).map { _ in }
    }

    private func stream(_ incoming: IncomingStream, _ parts: NIOLoopBound<Parts>) -> EventLoopFuture<Void> {
        isMoved = true
        return streamBootstrap(parts)
            // The peer may be gone without a goodbye.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.init(rawValue: TCPOption.keepaliveIdle)), value: Self.keepaliveTime)
            .channelOption(.tcpOption(.init(rawValue: TCPOption.userTimeout)), value: 1000 * Self.patience)
            .withConnectedSocket(incoming.descriptor).map { _ in }
    }

    private func streamBootstrap(_ parts: NIOLoopBound<Parts>) -> ClientBootstrap {
        ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(
                .tcpOption(.init(rawValue: TCPOption.notSentLowWater)), value: SocketOptionValue(Self.unsentLimit)
            )
            .channelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(low: Self.queueLimit / 2, high: Self.queueLimit)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let parts = parts.value
                    parts.socket?.channel = channel
                    if let security = parts.security { try channel.pipeline.syncOperations.addHandler(security) }
                    try channel.pipeline.syncOperations.addHandler(parts.handler)
                }
            }
    }

    private func datagrams(
        from local: SocketAddress, to remote: SocketAddress, _ parts: NIOLoopBound<Parts>
    ) -> EventLoopFuture<Void> {
        DatagramBootstrap(group: eventLoop)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
            .channelOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 19, high: 1 << 20)
            )
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let parts = parts.value
                    parts.socket?.channel = channel
                    try channel.pipeline.syncOperations.addHandlers(EnvelopeHandler(remote: remote), parts.handler)
                }
            }
            .bind(to: local).map { _ in }
    }

    private func becomeReady(_ channel: any Channel) {
        guard case .opening(let waiting) = state else { return }
        if incoming == nil {
            opening?.cancel()
            opening = nil
        }
        state = .open(channel)
        port = UInt16(channel.localAddress?.port ?? 0)
        for message in waiting { channel.write(message, promise: nil) }
        channel.flush()
        writable()
        guard let incoming else { return }
        incoming.move(to: channel)
        channel.pipeline.fireChannelRead(incoming.received)
    }

    private func deliver(_ message: inout ByteBuffer) {
        guard case .open = state else { return }
        lastReceived = MonotonicClock.now
        receive(&message)
    }
}
