package import RTCShareWireFormat

/// A link that several flows share: one queue, first in, first out, whose tail is dropped, before a capacity that may
/// change while packets wait.
///
/// It holds no packets: as it is told what it will carry, it knows when a packet has passed as soon as it comes.
package struct Bottleneck: Sendable {
    /// What a queue has room for; the lower of the two counts.
    package struct QueueLimit: Hashable, Sendable {
        /// Bytes that may wait.
        package var byteCount: Int
        /// What may wait is what passes in this time at the capacity of the moment (RFC 8867 §4.1).
        package var duration: Duration

        /// A limit; none where nothing is said.
        package init(byteCount: Int = .max, duration: Duration = .seconds(3600)) {
            self.byteCount = byteCount
            self.duration = duration
        }
    }

    /// A packet that was let in.
    package struct Passage: Hashable, Sendable {
        /// How long it waits for those before it.
        package let queueingDelay: Duration
        /// When its last bit has passed.
        package let departure: Instant
    }

    /// What one flow had of the bottleneck.
    package struct FlowCounters: Hashable, Sendable {
        /// Packets let in.
        package var packets = 0
        /// Bytes let in.
        package var bytes = 0
        /// Packets that the queue had no room for.
        package var packetsDropped = 0
        /// Their bytes.
        package var bytesDropped = 0
        /// What all its packets waited, together.
        package var totalQueueingDelay = Duration.zero
        /// The longest that one of its packets waited.
        package var maximumQueueingDelay = Duration.zero
    }

    /// What the bottleneck carries.
    package let capacity: CapacityTrace
    /// What its queue has room for.
    package let limit: QueueLimit
    /// What each flow had of it.
    package private(set) var flows: [Int: FlowCounters] = [:]
    private var free: Instant?
    /// Packets that have not passed, the oldest at `first`.
    private var waiting: [(departure: Instant, size: Int)] = []
    private var first = 0
    private var waitingBytes = 0

    /// A bottleneck with nothing in it.
    package init(capacity: CapacityTrace, limit: QueueLimit = QueueLimit()) {
        self.capacity = capacity
        self.limit = limit
    }

    /// How long a packet that comes now has to wait.
    package func queueingDelay(now: Instant) -> Duration {
        free.map { max(.zero, $0 - now) } ?? .zero
    }

    /// Bytes that have not passed.
    package mutating func queuedBytes(now: Instant) -> Int {
        while first < waiting.count, waiting[first].departure <= now {
            waitingBytes -= waiting[first].size
            first += 1
        }
        if first > 1024 {
            waiting.removeFirst(first)
            first = 0
        }
        return waitingBytes
    }

    /// Takes a packet of `size` bytes on the wire, or drops it where the queue is full; an empty one has room for any.
    package mutating func send(size: Int, flow: Int, now: Instant) -> Passage? {
        let queued = queuedBytes(now: now)
        let room = min(limit.byteCount, capacity.rate(at: now).bytes(in: limit.duration))
        guard queued == 0 || queued <= room - size else {
            flows[flow, default: FlowCounters()].packetsDropped += 1
            flows[flow, default: FlowCounters()].bytesDropped += size
            return nil
        }
        let start = max(now, free ?? now)
        let departure = capacity.departure(ofBytes: size, from: start)
        free = departure
        waiting.append((departure, size))
        waitingBytes += size
        flows[flow, default: FlowCounters()].count(size: size, delay: start - now)
        return Passage(queueingDelay: start - now, departure: departure)
    }
}

extension Bottleneck.FlowCounters {
    fileprivate mutating func count(size: Int, delay: Duration) {
        packets += 1
        bytes += size
        totalQueueingDelay += delay
        maximumQueueingDelay = max(maximumQueueingDelay, delay)
    }
}
