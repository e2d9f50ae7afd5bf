internal import Glibc
internal import NIOCore
internal import RTCShareCDatagrams
internal import RTCShareWireFormat

/// The datagrams to send with the next system call: those of all connections of an event loop are sent together.
///
/// They are written one after another into memory that is reused, and sent in as few system calls as there are sockets.
/// If the kernel supports generic segmentation offload, consecutive datagrams to one destination and of one size,
/// except for the last, are one message. No memory is allocated per datagram.
///
/// Datagrams that a full socket rejects wait with it, up to a limit. Other rejections are counted and reported.
final class DatagramBatch {
    /// The maximum size of a datagram: a packet of 1200 bytes, which each route can transfer, and some reserve.
    static let maximumDatagram = 1280
    private static let capacity = Int(DATAGRAMS_MOST)
    private static let arenaByteCount = 2 * capacity * maximumDatagram
    /// The kernel's limits for a message to segment: datagrams, and bytes.
    private static let maximumSegments = 48
    private static let maximumMessage = 60_000

    /// The sender and the socket of a message.
    private struct Origin {
        let socket: DatagramSocket
        let sender: ConnectionSockets
        let destination: TransportAddress
    }

    private let arena = UnsafeMutableRawBufferPointer.allocate(byteCount: arenaByteCount, alignment: 64)
    private let messages = UnsafeMutablePointer<datagram>.allocate(capacity: capacity)
    private let names = UnsafeMutablePointer<socket_name>.allocate(capacity: capacity)
    private var origins: [Origin] = []
    private var used = 0
    /// The maximum size of the next datagram to become part of the newest message.
    private var joinable = 0
    private let eventLoop: any EventLoop

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        messages.initialize(repeating: datagram(), count: Self.capacity)
        names.initialize(repeating: socket_name(), count: Self.capacity)
        origins.reserveCapacity(Self.capacity)
    }

    deinit {
        arena.deallocate()
        messages.deallocate()
        names.deallocate()
    }

    /// Returns memory for the next datagram, until ``commit(_:from:to:name:by:)`` is called with the number of bytes,
    /// or is not called.
    func reserve() -> UnsafeMutableRawBufferPointer {
        if origins.count == Self.capacity || used + Self.maximumDatagram > arena.count { flush() }
        return UnsafeMutableRawBufferPointer(rebasing: arena[used..<used + Self.maximumDatagram])
    }

    /// Adds the first `byteCount` bytes of the last reserved memory to the batch.
    func commit(
        _ byteCount: Int, from socket: DatagramSocket, to destination: TransportAddress, name: borrowing SocketName,
        by sender: ConnectionSockets
    ) {
        defer { used += byteCount }
        if byteCount <= joinable, let newest = origins.last, newest.sender === sender, newest.socket === socket,
            newest.destination == destination
        {
            let message = messages + (origins.count - 1)
            let size = message.pointee.segment == 0 ? message.pointee.length : UInt32(message.pointee.segment)
            message.pointee.segment = UInt16(size)
            message.pointee.length += UInt32(byteCount)
            let isFull =
                message.pointee.length + size > Self.maximumMessage
                || message.pointee.length > size * UInt32(Self.maximumSegments - 1)
            joinable = byteCount < size || isFull ? 0 : byteCount
            return
        }
        let index = origins.count
        names[index] = name.name
        messages[index].bytes = UnsafeRawPointer(arena.baseAddress?.advanced(by: used))
        messages[index].length = UInt32(byteCount)
        messages[index].segment = 0
        messages[index].name = UnsafeRawPointer(names + index)
        messages[index].name_length = UInt16(name.byteCount)
        origins.append(Origin(socket: socket, sender: sender, destination: destination))
        joinable = socket.cutsMessages ? byteCount : 0
    }

    /// Passes all datagrams to the kernel.
    func flush() {
        var start = 0
        while start < origins.count {
            let socket = origins[start].socket
            var end = start + 1
            while end < origins.count, origins[end].socket === socket { end += 1 }
            send(start..<end, through: socket)
            start = end
        }
        origins.removeAll(keepingCapacity: true)
        used = 0
        joinable = 0
    }

    private func send(_ range: Range<Int>, through socket: DatagramSocket) {
        var next = range.lowerBound
        while next < range.upperBound {
            guard socket.takesDirectly else { return queue(next..<range.upperBound) }
            var error: Int32 = 0
            let sent = datagrams_send(socket.descriptor, messages + next, UInt32(range.upperBound - next), &error)
            if sent > 0 {
                next += Int(sent)
                continue
            }
            if DatagramSocket.meansNoRoom(error) { return queue(next..<range.upperBound) }
            if messages[next].segment > 0 {
                // This kernel, or this interface, may not support segmentation.
                socket.cutsMessages = false
                sendOneByOne(next, through: socket)
            } else {
                refuse(next)
            }
            next += 1
        }
    }

    private func sendOneByOne(_ index: Int, through socket: DatagramSocket) {
        let whole = messages[index]
        forEachDatagram(of: index) { bytes in
            var single = whole
            single.bytes = bytes.baseAddress
            single.length = UInt32(bytes.count)
            single.segment = 0
            var error: Int32 = 0
            guard datagrams_send(socket.descriptor, &single, 1, &error) < 1 else { return }
            if DatagramSocket.meansNoRoom(error) {
                queue(bytes, of: index)
            } else {
                refuse(index, datagrams: 1)
            }
        }
    }

    private func forEachDatagram(of index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        let message = messages[index]
        let size = message.segment == 0 ? message.length : UInt32(message.segment)
        var offset: UInt32 = 0
        while offset < message.length, size > 0 {
            let count = min(size, message.length - offset)
            body(UnsafeRawBufferPointer(start: message.bytes?.advanced(by: Int(offset)), count: Int(count)))
            offset += count
        }
    }

    private func queue(_ range: Range<Int>) {
        for index in range { forEachDatagram(of: index) { queue($0, of: index) } }
    }

    /// Queues a datagram at its socket, which sends it when the kernel has room.
    private func queue(_ bytes: UnsafeRawBufferPointer, of index: Int) {
        let origin = origins[index]
        if !origin.socket.queue(bytes, to: origin.destination, by: origin.sender) { origin.sender.countRefused(1) }
    }

    private func refuse(_ index: Int, datagrams: Int? = nil) {
        let origin = origins[index]
        let message = messages[index]
        let segment = max(1, Int(message.segment))
        let count = message.segment == 0 ? 1 : (Int(message.length) + segment - 1) / segment
        origin.sender.countRefused(datagrams ?? count)
        let box = NIOLoopBound(origin, eventLoop: eventLoop)
        // The caller of a flush is in the middle of its work.
        eventLoop.execute {
            let origin = box.value
            origin.sender.datagramRefused(from: origin.socket.address, to: origin.destination)
        }
    }
}
