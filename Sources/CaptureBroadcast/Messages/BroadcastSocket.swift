internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareCapture

/// One end of a connection: a non-blocking socket with a queue of bytes to write. Used on one thread.
final class BroadcastSocket {
    let descriptor: Int32
    private var outgoing: [UInt8] = []
    private var sent = 0
    /// The descriptors that are sent with the first byte of the queue.
    private var passed: [Int32] = []
    /// The descriptors that were received with bytes; the code that takes them closes them.
    private var received: [Int32] = []

    /// Takes ownership of the descriptor.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = socket_set_no_delay(descriptor)
    }

    deinit {
        for descriptor in received { close(descriptor) }
        close(descriptor)
    }

    /// Whether the end of the peer's stream was reached.
    private(set) var isClosed = false
    /// Whether the peer closed it after it had read everything.
    private(set) var wasHeard = false

    /// Whether the peer has closed it, even if bytes from before are still unread.
    var hasHungUp: Bool { socket_has_hung_up(descriptor) != 0 }

    /// Whether bytes wait to be written.
    var isPending: Bool { sent < outgoing.count }

    /// Reads the available bytes, and returns their number, 0 if there are none now.
    func read(into target: UnsafeMutableRawBufferPointer) throws(BroadcastError) -> Int {
        var descriptors: [Int32] = [-1, -1]
        var count: UInt32 = 0
        let got = message_receive(descriptor, target.baseAddress, target.count, &descriptors, &count)
        let reason = errno
        received += descriptors.prefix(Int(count))
        if received.count > Self.mostReceived { throw .network("descriptors that were not requested") }
        if got > 0 { return got }
        if got < 0, reason == EAGAIN || reason == EINTR { return 0 }
        // After a reset, the next read returns an end like any other.
        if !isClosed { wasHeard = got == 0 }
        throw lost(got == 0 ? ECONNRESET : reason)
    }

    private func lost(_ reason: Int32) -> BroadcastError {
        guard reason == ECONNRESET || reason == EPIPE else {
            return .network("the connection was lost: \(systemMessage(reason))")
        }
        isClosed = true
        return .network("it closed the connection")
    }

    private static let mostReceived = 8

    /// Returns the received descriptors, of which the caller becomes the owner.
    func takeDescriptors() -> [Int32] {
        defer { received = [] }
        return received
    }

    /// Queues bytes. Descriptors are sent with them if the queue is empty.
    func send(_ bytes: [UInt8], passing descriptors: [Int32] = []) throws(BroadcastError) {
        if !isPending {
            outgoing.removeAll(keepingCapacity: true)
            sent = 0
            passed = descriptors
        } else if !descriptors.isEmpty {
            throw .internal("descriptors can't be passed while other bytes wait")
        }
        guard outgoing.count - sent + bytes.count <= Self.mostOutgoing else {
            throw .network("the other process does not read its messages")
        }
        outgoing += bytes
        try flush()
    }

    /// The maximum length of the queue: only frames are long, and there is one of these at a time.
    private static let mostOutgoing = 4 * BroadcastMessage.maximumBody

    /// Writes as much as the socket accepts now.
    func flush() throws(BroadcastError) {
        while isPending {
            let written = outgoing.withUnsafeBytes { bytes in
                message_send(
                    descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, passed, UInt32(passed.count))
            }
            guard try didWrite(written) else { return }
            sent += written
            passed = []
        }
    }

    /// Writes some of `bytes`, after the queue, and returns their number, 0 if the socket accepts none now.
    func write(_ bytes: UnsafeRawBufferPointer) throws(BroadcastError) -> Int {
        try flush()
        guard !isPending else { return 0 }
        let written = message_send(descriptor, bytes.baseAddress, bytes.count, nil, 0)
        return try didWrite(written) ? written : 0
    }

    /// Returns whether a write was accepted.
    private func didWrite(_ written: Int) throws(BroadcastError) -> Bool {
        let reason = errno
        if written >= 0 { return true }
        if reason == EAGAIN || reason == EINTR || reason == ENOBUFS { return false }
        throw lost(reason)
    }
}

/// Waits for several descriptors at once.
struct Readiness {
    private var entries: [pollfd] = []

    mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Watches a descriptor for readability, or also for writability.
    mutating func add(_ descriptor: Int32, forWriting: Bool = false) {
        entries.append(pollfd(fd: descriptor, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0))
    }

    /// Waits for an event or until `deadline` (nil: none).
    mutating func wait(until deadline: Duration?) {
        // A remaining fraction of a millisecond is rounded up, so that the caller does not poll.
        let timeout = deadline.map { max($0 - monotonicNow(), .zero) + .microseconds(999) }
        poll(&entries, UInt(entries.count), timeout?.wholeMilliseconds ?? -1)
    }

    /// Returns whether a descriptor has an event.
    func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}

/// Wakes a waiting thread, from any thread.
final class WakeEvent: Sendable {
    let descriptor: Int32

    init() throws(BroadcastError) {
        descriptor = event_create()
        guard descriptor >= 0 else { throw .internal("eventfd: \(systemMessage(errno))") }
    }

    deinit {
        close(descriptor)
    }

    func signal() { event_signal(descriptor) }
    func clear() { event_clear(descriptor) }
}
