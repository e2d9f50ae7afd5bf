internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RTCShareCDatagrams
internal import RTCShareMedia
internal import RTCShareWireFormat

/// A UDP socket of a connection. Each is bound to one local address, so that the socket determines the destination of
/// received and the source of sent datagrams.
///
/// SwiftNIO's channel receives. ``DatagramBatch`` sends, through a descriptor of the same socket. Datagrams wait here
/// if the kernel has no room: the channel would close at the first datagram that the kernel rejects, whatever the
/// destinations of the others. It is used on its event loop.
final class DatagramSocket {
    let channel: any Channel
    /// The bound address, with the port that the system chose if it was 0.
    let address: TransportAddress
    /// A descriptor of the socket in addition to the channel's, owned by this object; -1 if there is none.
    private(set) var descriptor: Int32
    /// Whether the kernel segments messages for this socket (generic segmentation offload).
    var cutsMessages = true
    /// The datagrams for which the kernel had no room, the oldest first.
    private var waiting = CircularBuffer<WaitingDatagram>()
    private var waitingBytes = 0

    /// A datagram, and the connection that sends it.
    private struct WaitingDatagram {
        let bytes: ByteBuffer
        let destination: TransportAddress
        let sender: ConnectionSockets
    }

    /// The maximum number of waiting bytes.
    private static let mostWaiting = 1 << 20
    /// The delay before a retry. The kernel does not notify if a device's queue was full.
    private static let retryInterval = TimeAmount.milliseconds(1)

    private init(channel: any Channel, address: TransportAddress) throws {
        self.channel = channel
        self.address = address
        // Checks that this is the event loop, and traps if not.
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

    /// Closes the socket. The port is free when the channel is closed.
    @discardableResult
    func close() -> EventLoopFuture<Void> {
        // The system keeps the port as long as there is a descriptor.
        closeDescriptor()
        return channel.close()
    }

    private func closeDescriptor() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Binds a socket on `eventLoop`, whose actor the caller must be. `receive` is called with each datagram, its
    /// source and its destination; `closed` when the socket is closed, also by an error. With `isShared`, the socket
    /// has room for the datagrams of many connections.
    static func open(
        at address: TransportAddress, on eventLoop: any EventLoop, isShared: Bool = false,
        receive: @escaping (inout ByteBuffer, TransportAddress, TransportAddress) -> Void,
        closed: @escaping (TransportAddress) -> Void
    ) async throws -> DatagramSocket {
        // Datagrams that a whole room sends during the transmission of a frame wait, and are read before anything else
        // is done.
        let (reads, roomToWait): (UInt, SocketOptionValue) = isShared ? (64, 1 << 22) : (4, 1 << 20)
        do {
            let channel = try await DatagramBootstrap(group: eventLoop)
                // A vectored read shares one buffer among its messages: each gets room for the largest packet with
                // Ethernet's MTU.
                .channelOption(.datagramVectorReadMessageCount, value: 16)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 * 2048))
                .channelOption(.maxMessagesPerRead, value: reads)
                .channelOption(.socketOption(.so_rcvbuf), value: roomToWait)
                // A key frame has hundreds of packets; those that the pacer sends must not be rejected here.
                .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
                // Until the handler is set.
                .channelOption(.autoRead, value: false)
                .bind(
                    to: address.socketAddress,
                    channelInitializer: DatagramHandler.initializer { DatagramHandler(on: $0) })
            guard let bound = channel.localAddress.flatMap({ TransportAddress($0) }) else {
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

    /// Sends a datagram. Returns false if the kernel rejects it permanently. If the kernel has no room, the datagram is
    /// lost.
    func send(_ bytes: ByteBuffer, to destination: TransportAddress) -> Bool {
        let error = refusal(of: bytes, to: destination)
        return error == 0 || Self.meansNoRoom(error)
    }

    /// Whether datagrams can be sent directly, because none waits.
    var takesDirectly: Bool { descriptor >= 0 && waiting.isEmpty }

    /// Queues a datagram until the kernel has room. Returns false, and drops it, if too much waits already, or the
    /// socket is closed.
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

    /// Sends a datagram; returns the number of the error with which it was rejected, or 0.
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

    /// Returns whether the kernel can accept a datagram later after rejecting it with this error.
    static func meansNoRoom(_ error: Int32) -> Bool {
        error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS
    }
}
