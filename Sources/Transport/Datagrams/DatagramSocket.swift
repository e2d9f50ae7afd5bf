internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareCDatagrams
internal import RTCShareMedia
internal import RTCShareWireFormat

/// Opens the UDP sockets of a connection. Each is bound to one local address, so that what arrives says by its socket
/// where it was sent to, and what leaves says it by the socket too.
///
/// SwiftNIO's channel receives. What is sent goes by ``DatagramBatch``, through a descriptor of the same socket, and waits
/// here where the kernel has no room for it: the channel would end at the first datagram that the kernel refuses for good,
/// whatever the others' destinations are. It lives on its event loop, where it is opened.
final class DatagramSocket {
    let channel: any Channel
    /// Where it is bound, with the port that the system picked where none was asked for.
    let address: TransportAddress
    /// A descriptor of the socket beside the channel's, which nobody else closes; -1 where there is none, or no longer.
    private(set) var descriptor: Int32
    /// Whether the kernel cuts messages for this socket (generic segmentation offload).
    var cutsMessages = true
    /// Datagrams that the kernel had no room for, the oldest first.
    private var waiting = CircularBuffer<WaitingDatagram>()
    private var waitingBytes = 0

    /// A datagram, and the connection that sends it.
    private struct WaitingDatagram {
        let bytes: ByteBuffer
        let destination: TransportAddress
        let sender: ConnectionSockets
    }

    /// The most bytes that wait.
    private static let mostWaiting = 1 << 20
    /// How long to wait until the kernel may have room again. It doesn't say when where a device's queue was full.
    private static let retryInterval = TimeAmount.milliseconds(1)

    private init(channel: any Channel, address: TransportAddress) throws {
        self.channel = channel
        self.address = address
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

    /// Binds a socket on `eventLoop`, whose actor the caller must be. `receive` is called with each datagram, where it came
    /// from and where it arrived; `closed` when the socket is closed, also by an error. One that `isShared` has room for
    /// the datagrams of many connections.
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
                .channelOption(.maxMessagesPerRead, value: reads)
                .channelOption(.socketOption(.so_rcvbuf), value: roomToWait)
                // A key frame is hundreds of packets; those the pacer lets go must not be refused here.
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
            let socket = try DatagramSocket(channel: channel, address: bound)
            try socket.listen(
                DatagramHandler.Listener(receive: { receive(&$0, $1, bound) }, closed: { closed(bound) }))
            return socket
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw ConnectionError.portTaken(address)
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL {
            throw ConnectionError.addressUnusable(
                address, reason: "no interface of this machine has it, or it is not ready yet")
        } catch let error as IOError where error.errnoCode == EINVAL {
            throw ConnectionError.addressUnusable(
                address, reason: "a link-local address needs its interface: use a global or a loopback address")
        } catch let error as IOError where error.errnoCode == EACCES {
            throw ConnectionError.addressUnusable(address, reason: "ports below 1024 are reserved for root")
        } catch let error as IOError {
            throw ConnectionError.addressUnusable(address, reason: systemMessage(error.errnoCode))
        }
    }

    // MARK: Sending

    /// Hands a datagram to the kernel; false where that refuses it for good. One that it has no room for is lost.
    func send(_ bytes: ByteBuffer, to destination: TransportAddress) -> Bool {
        let error = refusal(of: bytes, to: destination)
        return error == 0 || Self.meansNoRoom(error)
    }

    /// Whether datagrams can be handed to the kernel: none waits for room.
    var takesDirectly: Bool { descriptor >= 0 && waiting.isEmpty }

    /// Keeps a datagram until the kernel has room. False where too much waits already, or the socket is closed: then it is
    /// dropped.
    func queue(
        _ bytes: UnsafeRawBufferPointer, to destination: TransportAddress, by sender: ConnectionSockets
    ) -> Bool {
        guard descriptor >= 0, waitingBytes + bytes.count <= Self.mostWaiting else { return false }
        if waiting.isEmpty { scheduleSending() }
        waiting.append(WaitingDatagram(bytes: ByteBuffer(bytes: bytes), destination: destination, sender: sender))
        waitingBytes += bytes.count
        return true
    }

    private func scheduleSending() {
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.retryInterval) { self.sendWaiting() }
    }

    private func sendWaiting() {
        while let next = waiting.first {
            let error = refusal(of: next.bytes, to: next.destination)
            if Self.meansNoRoom(error) { return scheduleSending() }
            waiting.removeFirst()
            waitingBytes -= next.bytes.readableBytes
            guard error != 0 else { continue }
            next.sender.countRefused(1)
            next.sender.datagramRefused(from: address, to: next.destination)
        }
    }

    /// Hands a datagram to the kernel; returns the number of the error that it was refused with, or 0.
    private func refusal(of bytes: ByteBuffer, to destination: TransportAddress) -> Int32 {
        guard descriptor >= 0 else { return EBADF }
        let name = SocketName(destination)
        return bytes.withUnsafeReadableBytes { bytes in
            withUnsafePointer(to: name.name) { pointer in
                var error: Int32 = 0
                var message = datagram(
                    bytes: bytes.baseAddress, length: UInt32(bytes.count), segment: 0,
                    name_length: UInt16(name.byteCount), name: pointer)
                return datagrams_send(descriptor, &message, 1, &error) < 1 ? error : 0
            }
        }
    }

    /// Whether the kernel takes a datagram later that it refused for this reason.
    static func meansNoRoom(_ error: Int32) -> Bool {
        error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS
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
