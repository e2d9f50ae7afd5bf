public import RTCShareWireFormat

/// Both directions between two endpoints, each a ``SimulatedLink`` with chances of its own from one seed.
public struct DuplexLink<Payload: Sendable>: Sendable {
    /// The two endpoints.
    public enum End: Sendable, CaseIterable {
        case left
        case right

        /// The endpoint at the other end.
        public var other: End { self == .left ? .right : .left }
    }

    /// A packet at the endpoint that it was sent to.
    public struct Delivery: Sendable {
        /// The endpoint that receives.
        public let end: End
        /// When the packet arrived.
        public let arrival: Instant
        /// The packet.
        public let payload: Payload
    }

    /// From the left end to the right.
    public var toRight: SimulatedLink<Payload>
    /// From the right end to the left.
    public var toLeft: SimulatedLink<Payload>

    /// Two directions; the same conditions both ways where only `toRight` is given.
    public init(toRight: LinkConditions = LinkConditions(), toLeft: LinkConditions? = nil, seed: UInt64) {
        self.toRight = SimulatedLink(toRight, seed: seed)
        self.toLeft = SimulatedLink(toLeft ?? toRight, seed: ~seed)
    }

    /// Gives the link a packet of `size` bytes that `end` sends.
    public mutating func send(_ payload: Payload, size: Int, from end: End, now: Instant) {
        switch end {
        case .left: toRight.send(payload, size: size, now: now)
        case .right: toLeft.send(payload, size: size, now: now)
        }
    }

    /// When the next packet arrives at either end.
    public var nextArrival: Instant? {
        switch (toRight.nextArrival, toLeft.nextArrival) {
        case (let right?, let left?): min(right, left)
        case (let right, let left): right ?? left
        }
    }

    /// The next packet that has arrived by `now` at either end, the earlier one first.
    public mutating func poll(now: Instant) -> Delivery? {
        guard let arrival = nextArrival, arrival <= now else { return nil }
        if toRight.nextArrival == arrival {
            return toRight.pollFirst(now: now).map { Delivery(end: .right, arrival: arrival, payload: $0) }
        }
        return toLeft.pollFirst(now: now).map { Delivery(end: .left, arrival: arrival, payload: $0) }
    }
}

extension DuplexLink where Payload == Datagram {
    /// Gives the link a datagram that `end` sends.
    public mutating func send(_ datagram: Datagram, from end: End, now: Instant) {
        switch end {
        case .left: toRight.send(datagram, now: now)
        case .right: toLeft.send(datagram, now: now)
        }
    }
}
