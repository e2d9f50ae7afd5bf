public import RTCShareWireFormat

/// A link that several flows share: one queue, first in, first out, whose tail is dropped, before a capacity that may
/// change while packets wait.
///
/// It holds no packets: as it is told what it will carry, it knows when a packet has passed as soon as it comes.
public struct Bottleneck: Sendable {
    /// What a queue has room for; the lower of the two counts.
    public struct QueueLimit: Hashable, Sendable {
        /// Bytes that may wait.
        public var byteCount: Int
        /// What may wait is what passes in this time at the capacity of the moment (RFC 8867 §4.1).
        public var duration: Duration

        /// A limit; none where nothing is said.
        public init(byteCount: Int = .max, duration: Duration = .seconds(3600)) {
            self.byteCount = byteCount
            self.duration = duration
        }
    }

    /// A packet that was let in.
    public struct Passage: Hashable, Sendable {
        /// How long it waits for those before it.
        public let queueingDelay: Duration
        /// When its last bit has passed.
        public let departure: Instant
    }

    /// What one flow had of the bottleneck.
    public struct FlowCounters: Hashable, Sendable {
        /// Packets let in.
        public var packets = 0
        /// Bytes let in.
        public var bytes = 0
        /// Packets that the queue had no room for.
        public var packetsDropped = 0
        /// Their bytes.
        public var bytesDropped = 0
        /// What all its packets waited, together.
        public var totalQueueingDelay = Duration.zero
        /// The longest that one of its packets waited.
        public var maximumQueueingDelay = Duration.zero
    }

    /// What the bottleneck carries.
    public let capacity: CapacityTrace
    /// What its queue has room for.
    public let limit: QueueLimit
    /// What each flow had of it.
    public private(set) var flows: [Int: FlowCounters] = [:]
    private var free: Instant?
    /// Packets that have not passed, the oldest at `first`.
    private var waiting: [(departure: Instant, size: Int)] = []
    private var first = 0
    private var waitingBytes = 0

    /// A bottleneck with nothing in it.
    public init(capacity: CapacityTrace, limit: QueueLimit = QueueLimit()) {
        self.capacity = capacity
        self.limit = limit
    }

    /// How long a packet that comes now has to wait.
    public func queueingDelay(now: Instant) -> Duration {
        free.map { max(.zero, $0 - now) } ?? .zero
    }

    /// Bytes that have not passed.
    public mutating func queuedBytes(now: Instant) -> Int {
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
    public mutating func send(size: Int, flow: Int, now: Instant) -> Passage? {
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
