internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareCapture

/// One end of a broadcast's connection: a socket that nobody waits in, and what waits to be written to it. Lives on one
/// thread.
final class BroadcastSocket {
    let descriptor: Int32
    private var outgoing: [UInt8] = []
    private var sent = 0
    /// Go with the first byte of what waits.
    private var passed: [Int32] = []
    /// Came with bytes that were read; whoever takes them closes them.
    private var received: [Int32] = []

    /// Takes the descriptor over.
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

    /// Whether the other side was seen to have left.
    private(set) var isClosed = false
    /// Whether it left when it had read everything.
    private(set) var wasHeard = false

    /// Whether the other side has left, be it that what it said before was not read yet.
    var hasHungUp: Bool { socket_has_hung_up(descriptor) != 0 }

    /// Whether something waits to be written.
    var isPending: Bool { sent < outgoing.count }

    /// Reads what is there: 0 where nothing is now.
    func read(into target: UnsafeMutableRawBufferPointer) throws(BroadcastError) -> Int {
        var descriptors: [Int32] = [-1, -1]
        var count: UInt32 = 0
        let got = message_receive(descriptor, target.baseAddress, target.count, &descriptors, &count)
        let reason = errno
        received += descriptors.prefix(Int(count))
        if received.count > Self.mostReceived { throw .network("descriptors that were not requested") }
        if got > 0 { return got }
        if got < 0, reason == EAGAIN || reason == EINTR { return 0 }
        // After a reset, the next read sees an end like any other.
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

    /// The descriptors that came, whose owner the caller becomes.
    func takeDescriptors() -> [Int32] {
        defer { received = [] }
        return received
    }

    /// Has bytes written, after what waits already. Descriptors go with them where nothing waits.
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

    /// More than this does not wait: no message but a picture is long, and of these there is one at a time.
    private static let mostOutgoing = 4 * BroadcastMessage.maximumBody

    /// Writes what the socket takes now.
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

    /// Writes some of `bytes`: how many, 0 where the socket takes none now. What waits goes first.
    func write(_ bytes: UnsafeRawBufferPointer) throws(BroadcastError) -> Int {
        try flush()
        guard !isPending else { return 0 }
        let written = message_send(descriptor, bytes.baseAddress, bytes.count, nil, 0)
        return try didWrite(written) ? written : 0
    }

    /// Whether a write took something.
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

    /// Watches a descriptor for something to read, or for room to write.
    mutating func add(_ descriptor: Int32, forWriting: Bool = false) {
        entries.append(pollfd(fd: descriptor, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0))
    }

    /// Waits until something happens or `deadline` (nil: none) has passed.
    mutating func wait(until deadline: Duration?) {
        // A fraction of a millisecond that is left is waited for whole, so that nobody asks again and again.
        let timeout = deadline.map { max($0 - monotonicNow(), .zero) + .microseconds(999) }
        poll(&entries, UInt(entries.count), timeout?.wholeMilliseconds ?? -1)
    }

    /// Whether something happened to a descriptor.
    func isReady(_ descriptor: Int32) -> Bool { entries.contains { $0.fd == descriptor && $0.revents != 0 } }
}

/// Wakes a thread that waits, from anywhere.
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
