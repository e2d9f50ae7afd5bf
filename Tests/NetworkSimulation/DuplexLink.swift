package import RTCShareWireFormat

/// Both directions between two endpoints, each a ``SimulatedLink`` with its own random numbers from one seed.
package struct DuplexLink<Payload: Sendable>: Sendable {
    /// The two endpoints.
    package enum End: Sendable, CaseIterable {
        case left
        case right

        /// The endpoint at the other end.
        package var other: End { self == .left ? .right : .left }
    }

    /// A packet at its destination.
    package struct Delivery: Sendable {
        /// The endpoint that receives.
        package let end: End
        /// The arrival time.
        package let arrival: Instant
        /// The packet.
        package let payload: Payload
    }

    /// From the left end to the right.
    package var toRight: SimulatedLink<Payload>
    /// From the right end to the left.
    package var toLeft: SimulatedLink<Payload>

    /// Creates two directions, with the same conditions if only `toRight` is given.
    package init(toRight: LinkConditions = LinkConditions(), toLeft: LinkConditions? = nil, seed: UInt64) {
        self.toRight = SimulatedLink(toRight, seed: seed)
        self.toLeft = SimulatedLink(toLeft ?? toRight, seed: ~seed)
    }

    /// Sends a packet of `size` bytes from `end`.
    package mutating func send(_ payload: Payload, size: Int, from end: End, now: Instant) {
        switch end {
        case .left: toRight.send(payload, size: size, now: now)
        case .right: toLeft.send(payload, size: size, now: now)
        }
    }

    /// The time of the next arrival at either end.
    package var nextArrival: Instant? {
        switch (toRight.nextArrival, toLeft.nextArrival) {
        case (let right?, let left?): min(right, left)
        case (let right, let left): right ?? left
        }
    }

    /// Removes and returns the next packet that has arrived by `now` at either end, the earlier one first.
    package mutating func poll(now: Instant) -> Delivery? {
        guard let arrival = nextArrival, arrival <= now else { return nil }
        if toRight.nextArrival == arrival {
            return toRight.pollFirst(now: now).map { Delivery(end: .right, arrival: arrival, payload: $0) }
        }
        return toLeft.pollFirst(now: now).map { Delivery(end: .left, arrival: arrival, payload: $0) }
    }
}

extension DuplexLink where Payload == Datagram {
    /// Sends a datagram from `end`.
    package mutating func send(_ datagram: Datagram, from end: End, now: Instant) {
        switch end {
        case .left: toRight.send(datagram, now: now)
        case .right: toLeft.send(datagram, now: now)
        }
    }
}
