package import RTCShareWireFormat

/// One direction of a network in virtual time. The same seed and the same sends give the same deliveries.
///
/// Every packet draws the same count of random numbers whatever becomes of it, so that conditions changed between two
/// runs disturb no other decision.
package struct SimulatedLink<Payload: Sendable>: Sendable {
    /// What became of the packets so far.
    package struct Counters: Hashable, Sendable {
        /// Packets given to ``SimulatedLink/send(_:size:now:)``.
        package var sent = 0
        /// Packets taken from ``SimulatedLink/poll(now:)``, second copies among them.
        package var delivered = 0
        /// Packets that vanished by chance.
        package var lost = 0
        /// Packets that the bottleneck's queue had no room for.
        package var overflowed = 0
        /// Packets held back for others to overtake.
        package var reordered = 0
        /// Second copies made.
        package var duplicated = 0
        /// Bytes given to ``SimulatedLink/send(_:size:now:)``.
        package var bytesSent = 0
        /// Bytes taken from ``SimulatedLink/poll(now:)``.
        package var bytesDelivered = 0
    }

    /// What the link does to packets sent from now on.
    package var conditions: LinkConditions
    /// What became of the packets so far.
    package private(set) var counters = Counters()
    private var generator: SeededGenerator
    private var transits = ArrivalQueue<(size: Int, payload: Payload)>()
    private var bottleneckFree: Instant?
    private var lastInOrder: Instant?

    /// A link with these conditions whose chances come from `seed`.
    package init(_ conditions: LinkConditions = LinkConditions(), seed: UInt64) {
        self.conditions = conditions
        generator = SeededGenerator(seed: seed)
    }

    /// Gives the link a packet of `size` bytes.
    package mutating func send(_ payload: Payload, size: Int, now: Instant) {
        let isLost = generator.chance(conditions.loss)
        let isReordered = generator.chance(conditions.reordering)
        let isDuplicated = generator.chance(conditions.duplication)
        let jitter = conditions.jitter * generator.fraction()
        let secondJitter = conditions.jitter * generator.fraction()
        counters.sent += 1
        counters.bytesSent += size

        // The queue stands before the lossy part of the path: a lost packet has used the bottleneck too.
        guard let departure = passBottleneck(size: size, now: now) else {
            counters.overflowed += 1
            return
        }
        guard !isLost else {
            counters.lost += 1
            return
        }
        var arrival = departure.advanced(by: conditions.delay + jitter)
        if isReordered {
            counters.reordered += 1
            arrival = arrival.advanced(by: conditions.reorderingDelay)
        } else {
            arrival = max(arrival, lastInOrder ?? arrival)
            lastInOrder = arrival
        }
        transits.push((size, payload), arrival: arrival)
        if isDuplicated {
            counters.duplicated += 1
            transits.push((size, payload), arrival: arrival.advanced(by: secondJitter))
        }
    }

    /// When the next packet arrives; nil while none is under way.
    package var nextArrival: Instant? { transits.nextArrival }

    /// Packets under way.
    package var packetsInFlight: Int { transits.count }

    /// The packets that have arrived by `now`, in the order of arrival.
    package mutating func poll(now: Instant) -> [Payload] {
        var arrived: [Payload] = []
        while let next = pollFirst(now: now) { arrived.append(next) }
        return arrived
    }

    /// The packet that arrived first, if one has by `now`.
    package mutating func pollFirst(now: Instant) -> Payload? {
        guard let first = transits.pop(now: now) else { return nil }
        counters.delivered += 1
        counters.bytesDelivered += first.element.size
        return first.element.payload
    }

    private mutating func passBottleneck(size: Int, now: Instant) -> Instant? {
        guard let rate = conditions.rate else { return now }
        let start = max(now, bottleneckFree ?? now)
        let wait = start - now
        // Rounded up: a queue that is drained to the bit has to show as empty.
        let queued = wait > .zero ? rate.bytes(in: wait) + 1 : 0
        guard wait <= conditions.queueTimeLimit, size <= conditions.queueLimit, queued <= conditions.queueLimit - size
        else { return nil }
        let departure = start.advanced(by: rate.duration(ofBytes: size))
        bottleneckFree = departure
        return departure
    }
}

extension SimulatedLink where Payload == Datagram {
    /// The bytes of an IPv4 and a UDP header, which the bottleneck carries as well.
    package static var headerOverhead: Int { 28 }

    /// Gives the link a datagram; it weighs its bytes and the headers of IPv4 and UDP.
    package mutating func send(_ datagram: Datagram, now: Instant) {
        send(datagram, size: datagram.bytes.count + Self.headerOverhead, now: now)
    }
}
