package import RTCShareWireFormat

/// A link that several flows share: one drop-tail FIFO queue before a capacity that may change while packets wait.
///
/// It holds no packets: because it knows its future capacity, it computes the departure of a packet at its arrival.
package struct Bottleneck: Sendable {
    /// The limits of a queue; the lower one applies.
    package struct QueueLimit: Hashable, Sendable {
        /// The maximum number of waiting bytes.
        package var byteCount: Int
        /// The maximum wait, as the bytes that pass in this time at the current capacity (RFC 8867 §4.1).
        package var duration: Duration

        /// Creates limits; by default, there are none.
        package init(byteCount: Int = .max, duration: Duration = .seconds(3600)) {
            self.byteCount = byteCount
            self.duration = duration
        }
    }

    /// A packet that was accepted.
    package struct Passage: Hashable, Sendable {
        /// The time for which it waits for the packets before it.
        package let queueingDelay: Duration
        /// The time at which its last bit has passed.
        package let departure: Instant
    }

    /// The counts of one flow.
    package struct FlowCounters: Hashable, Sendable {
        /// The number of accepted packets.
        package var packets = 0
        /// The number of accepted bytes.
        package var bytes = 0
        /// The number of packets that the full queue dropped.
        package var packetsDropped = 0
        /// The bytes of the dropped packets.
        package var bytesDropped = 0
        /// The total wait of its packets.
        package var totalQueueingDelay = Duration.zero
        /// The longest wait of its packets.
        package var maximumQueueingDelay = Duration.zero
    }

    /// The capacity over time.
    package let capacity: CapacityTrace
    /// The limits of the queue.
    package let limit: QueueLimit
    /// The counts of each flow.
    package private(set) var flows: [Int: FlowCounters] = [:]
    private var free: Instant?
    /// The packets that have not passed, the oldest at `first`.
    private var waiting: [(departure: Instant, size: Int)] = []
    private var first = 0
    private var waitingBytes = 0

    /// Creates an empty bottleneck.
    package init(capacity: CapacityTrace, limit: QueueLimit = QueueLimit()) {
        self.capacity = capacity
        self.limit = limit
    }

    /// Returns the wait of a packet that arrives now.
    package func queueingDelay(now: Instant) -> Duration {
        free.map { max(.zero, $0 - now) } ?? .zero
    }

    /// Returns the number of bytes that have not passed.
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

    /// Accepts a packet of `size` bytes on the wire, or drops it if the queue is full. An empty queue accepts any
    /// packet.
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
