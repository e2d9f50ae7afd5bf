package import RTCShareWireFormat

/// One direction of a network in virtual time. The same seed and the same packets result in the same deliveries.
///
/// Each packet draws the same number of random numbers, whatever its fate, so that a change of the conditions between
/// two runs does not change other packets' fates.
package struct SimulatedLink<Payload: Sendable>: Sendable {
    /// The fates of the packets so far.
    package struct Counters: Hashable, Sendable {
        /// The number of packets sent by ``SimulatedLink/send(_:size:now:)``.
        package var sent = 0
        /// The number of packets received by ``SimulatedLink/poll(now:)``, including duplicates.
        package var delivered = 0
        /// The number of packets that were lost at random.
        package var lost = 0
        /// The number of packets that the bottleneck's full queue dropped.
        package var overflowed = 0
        /// The number of packets that were delayed for others to overtake.
        package var reordered = 0
        /// The number of duplicates.
        package var duplicated = 0
        /// The number of bytes sent by ``SimulatedLink/send(_:size:now:)``.
        package var bytesSent = 0
        /// The number of bytes received by ``SimulatedLink/poll(now:)``.
        package var bytesDelivered = 0
    }

    /// The conditions for packets from now on.
    package var conditions: LinkConditions
    /// The fates of the packets so far.
    package private(set) var counters = Counters()
    private var generator: SeededGenerator
    private var transits = ArrivalQueue<(size: Int, payload: Payload)>()
    private var bottleneckFree: Instant?
    private var lastInOrder: Instant?

    /// Creates a link with these conditions and the random numbers of `seed`.
    package init(_ conditions: LinkConditions = LinkConditions(), seed: UInt64) {
        self.conditions = conditions
        generator = SeededGenerator(seed: seed)
    }

    /// Sends a packet of `size` bytes.
    package mutating func send(_ payload: Payload, size: Int, now: Instant) {
        let isLost = generator.chance(conditions.loss)
        let isReordered = generator.chance(conditions.reordering)
        let isDuplicated = generator.chance(conditions.duplication)
        let jitter = conditions.jitter * generator.fraction()
        let secondJitter = conditions.jitter * generator.fraction()
        counters.sent += 1
        counters.bytesSent += size

        // The queue is before the lossy part of the route: a lost packet has used the bottleneck, too.
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

    /// The time of the next arrival; nil while no packet is under way.
    package var nextArrival: Instant? { transits.nextArrival }

    /// The number of packets under way.
    package var packetsInFlight: Int { transits.count }

    /// Removes and returns the packets that have arrived by `now`, in order of arrival.
    package mutating func poll(now: Instant) -> [Payload] {
        var arrived: [Payload] = []
        while let next = pollFirst(now: now) { arrived.append(next) }
        return arrived
    }

    /// Removes and returns the packet that arrived first, if one has by `now`.
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
        // Rounded up: an exactly drained queue must be empty.
        let queued = wait > .zero ? rate.bytes(in: wait) + 1 : 0
        guard wait <= conditions.queueTimeLimit, size <= conditions.queueLimit, queued <= conditions.queueLimit - size
        else { return nil }
        let departure = start.advanced(by: rate.duration(ofBytes: size))
        bottleneckFree = departure
        return departure
    }
}

extension SimulatedLink where Payload == Datagram {
    /// The size of an IPv4 and a UDP header, which the bottleneck transfers as well.
    package static var headerOverhead: Int { 28 }

    /// Sends a datagram; its size includes the IPv4 and UDP headers.
    package mutating func send(_ datagram: Datagram, now: Instant) {
        send(datagram, size: datagram.bytes.count + Self.headerOverhead, now: now)
    }
}
