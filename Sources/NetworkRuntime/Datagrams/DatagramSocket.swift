internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareWireFormat

/// Opens the UDP sockets of a connection. Each is bound to one local address, so that what arrives says by its socket
/// where it was sent to, and what leaves says it by the socket too.
///
/// SwiftNIO's channel receives, and sends what the kernel does not take at once. What it does take goes by
/// ``DatagramBatch``, through a descriptor of the same socket. It lives on its event loop, where it is opened.
final class DatagramSocket {
    let channel: any Channel
    /// Where it is bound, with the port that the system picked where none was asked for.
    let address: TransportAddress
    /// A descriptor of the socket beside the channel's, which nobody else closes; -1 where there is none, or no longer.
    private(set) var descriptor: Int32
    /// Whether the kernel cuts messages for this socket (generic segmentation offload).
    var cutsMessages = true
    /// Whether a send that fails for good ends the socket, so that it is opened anew.
    private let endsOnFailure: Bool
    /// Datagrams that the channel has yet to send.
    private var queued = 0
    private var isHeldBack = false

    private init(channel: any Channel, address: TransportAddress, endsOnFailure: Bool) throws {
        self.channel = channel
        self.address = address
        self.endsOnFailure = endsOnFailure
        // Checks that this is the event loop, and ends the program where it is not.
        descriptor =
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                fcntl($0, F_DUPFD_CLOEXEC, 0)
            } ?? -1
        channel.closeFuture.assumeIsolated().whenComplete { [self] _ in closeDescriptor() }
    }

    private func listen(_ listener: DatagramHandler.Listener) throws {
        try channel.pipeline.syncOperations.handler(type: DatagramHandler.self).listener = listener
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    deinit { closeDescriptor() }

    /// Closes the socket. Once the channel is closed, the port is free.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        // The system keeps the port for as long as anybody has a descriptor.
        closeDescriptor()
        return channel.close()
    }

    private func closeDescriptor() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Binds a socket on `eventLoop`, whose actor the caller must be. `receive` hears each datagram, where it came from and
    /// where it arrived; `closed` hears the end of the socket, whoever ended it. One that `isShared` is not ended by what
    /// one of its users could not send.
    static func open(
        at address: TransportAddress, on eventLoop: any EventLoop, isShared: Bool = false,
        receive: @escaping (inout ByteBuffer, TransportAddress, TransportAddress) -> Void,
        closed: @escaping (TransportAddress) -> Void
    ) async throws -> DatagramSocket {
        // What comes for a whole room while it is sent a picture waits, and is read before anything else is done.
        let (reads, roomToWait): (UInt, SocketOptionValue) = isShared ? (64, 1 << 22) : (4, 1 << 20)
        do {
            let channel = try await DatagramBootstrap(group: eventLoop)
                // A vector read shares one buffer among its messages: each gets room for the largest packet of a path
                // with Ethernet's MTU.
                .channelOption(.datagramVectorReadMessageCount, value: 16)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
                // A key frame is hundreds of packets; those the pacer lets go must not be refused here.
                .channelOption(
                    .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 19, high: 1 << 20)
                )
                .channelOption(.maxMessagesPerRead, value: reads)
                .channelOption(.socketOption(.so_rcvbuf), value: roomToWait)
                .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(DatagramHandler(on: channel.eventLoop))
                    }
                }
                // Until it is known who listens.
                .channelOption(.autoRead, value: false)
                .bind(to: address.socketAddress).get()
            guard let bound = channel.localAddress.flatMap(TransportAddress.init) else {
                channel.close(promise: nil)
                throw ConnectionError.addressUnusable(address, reason: "the system gave the socket no address")
            }
            let socket = try DatagramSocket(channel: channel, address: bound, endsOnFailure: !isShared)
            try socket.listen(
                DatagramHandler.Listener(receive: { receive(&$0, $1, bound) }, closed: { closed(bound) }))
            return socket
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ConnectionError.portTaken(address)
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL {
            throw ConnectionError.addressUnusable(
                address,
                reason: "no interface of this machine has it; "
                    + "if the network changed since the offer, make a new one")
        } catch let error as IOError where error.errnoCode == EINVAL {
            throw ConnectionError.addressUnusable(
                address, reason: "a socket can't be bound to it alone; give a global or a loopback address")
        } catch let error as IOError where error.errnoCode == EACCES {
            throw ConnectionError.addressUnusable(address, reason: "ports below 1024 belong to root")
        } catch let error as IOError {
            throw ConnectionError.addressUnusable(address, reason: String(cString: strerror(error.errnoCode)))
        }
    }

    /// Hands a datagram to the channel; it leaves at its next flush.
    func write(_ bytes: ByteBuffer, to destination: TransportAddress) throws {
        channel.write(AddressedEnvelope(remoteAddress: try destination.socketAddress, data: bytes), promise: nil)
    }

    // MARK: Sending in batches

    /// Whether datagrams can be handed to the kernel: none waits in the channel.
    var takesDirectly: Bool { descriptor >= 0 && !isHeldBack }

    /// The kernel has no room: what follows waits in the channel.
    func holdBack() {
        isHeldBack = true
    }

    /// Leaves a datagram to the channel, which sends it as soon as there is room. False where too much waits already, or
    /// the socket is closed: then it is let fall.
    func queue(_ bytes: UnsafeRawBufferPointer, to destination: TransportAddress) -> Bool {
        guard channel.isActive, channel.isWritable, let name = try? destination.socketAddress else {
            if queued == 0 { isHeldBack = false }
            return false
        }
        queued += 1
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] (_: Result<Void, any Error>) in
            queued -= 1
            if queued == 0 { isHeldBack = false }
        }
        channel.writeAndFlush(
            AddressedEnvelope(remoteAddress: name, data: ByteBuffer(bytes: bytes)), promise: written)
        return true
    }

    /// Takes note that a datagram could not be sent for good. SwiftNIO's own sends end a channel so.
    func didRefuse(_ error: Int32) {
        guard endsOnFailure, error != EMSGSIZE, error != EHOSTUNREACH else { return }
        close()
    }
}

/// Tells the owner of a socket what arrived.
final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    struct Listener {
        /// A datagram and where it came from.
        var receive: (inout ByteBuffer, TransportAddress) -> Void
        /// The socket's end.
        var closed: () -> Void = {}
    }

    var listener: Listener?
    private let loop: ConnectionLoop
    private var isReading = false

    init(on eventLoop: any EventLoop) {
        loop = .of(eventLoop)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What is answered to all that is read at a time leaves together.
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
        // A receive error (an ICMP answer to something sent) says nothing that ICE's own checks don't find out.
    }
}
