package import RTCShareWireFormat

/// Flows on several routes through one bottleneck in each direction: the network of RFC 8867 §4.1.
///
///     left ends ──▶ forward bottleneck ──▶ each flow's delay, jitter, loss ──▶ right ends
///     left ends ◀── each flow's delay, jitter, loss ◀── backward bottleneck ◀── right ends
///
/// The same seed and the same packets result in the same deliveries.
package struct Dumbbell<Payload: Sendable>: Sendable {
    /// The direction of a packet.
    package enum Direction: Hashable, Sendable, CaseIterable {
        /// From a left end to a right one.
        case forward
        /// From a right end to a left one.
        case backward

        /// The other direction.
        package var opposite: Direction { self == .forward ? .backward : .forward }
    }

    /// The conditions of one flow's route, apart from the bottlenecks.
    package struct Path: Hashable, Sendable {
        /// The one-way delay of an undisturbed packet.
        package var delay: Duration
        /// The standard deviation of the addition to `delay`: the absolute value of a normally distributed number,
        /// limited to three deviations (RFC 8868 §4.5.1). It does not reorder packets.
        package var jitter: Duration
        /// The fraction of forward packets that are lost after the bottleneck, 0...1.
        package var forwardLoss: Double
        /// The fraction of backward packets that are lost after the bottleneck, 0...1.
        package var backwardLoss: Double

        /// The mean number of consecutive losses: 1 for independent losses, more for bursts (Gilbert's model, whose bad
        /// state loses everything). The fraction of lost packets does not change.
        package var lossBurst: Double

        /// Creates a route, by default without jitter and loss.
        package init(
            delay: Duration, jitter: Duration = .zero, forwardLoss: Double = 0, backwardLoss: Double = 0,
            lossBurst: Double = 1
        ) {
            self.delay = delay
            self.jitter = jitter
            self.forwardLoss = forwardLoss
            self.backwardLoss = backwardLoss
            self.lossBurst = lossBurst
        }

        /// Returns the probability that a packet is lost, which depends on the fate of its predecessor.
        fileprivate func chanceOfLoss(_ direction: Direction, afterLoss: Bool) -> Double {
            let share = direction == .forward ? forwardLoss : backwardLoss
            guard lossBurst > 1, share < 1 else { return share }
            return afterLoss ? 1 - 1 / lossBurst : min(1, share / (1 - share) / lossBurst)
        }
    }

    /// The fate of a packet.
    package enum Fate: Hashable, Sendable {
        /// It arrives, after this wait at the bottleneck.
        case delivered(queueingDelay: Duration)
        /// It passes the bottleneck after this wait, and is lost at random.
        case lost(queueingDelay: Duration)
        /// The bottleneck's queue is full.
        case dropped
    }

    /// A packet at its destination.
    package struct Delivery: Sendable {
        /// The packet's flow.
        package let flow: Int
        /// The packet's direction.
        package let direction: Direction
        /// Its size on the wire in bytes.
        package let size: Int
        /// The arrival time.
        package let arrival: Instant
        /// The packet.
        package let payload: Payload
    }

    /// The bottleneck from the left ends to the right ones.
    package private(set) var forward: Bottleneck
    /// The bottleneck from the right ends to the left ones.
    package private(set) var backward: Bottleneck
    private let paths: [Path]
    private var latest: [[Instant?]]
    /// Whether the last packet of each flow and direction was lost.
    private var wasLost: [[Bool]]
    private var generator: SeededGenerator
    private var transits = ArrivalQueue<(flow: Int, direction: Direction, size: Int, payload: Payload)>()

    /// Creates a network with a route for each flow, numbered from 0.
    package init(forward: Bottleneck, backward: Bottleneck, paths: [Path], seed: UInt64) {
        self.forward = forward
        self.backward = backward
        self.paths = paths
        latest = paths.map { _ in [nil, nil] }
        wasLost = paths.map { _ in [false, false] }
        generator = SeededGenerator(seed: seed)
    }

    /// The time of the next arrival; nil while no packet is under way.
    package var nextArrival: Instant? { transits.nextArrival }

    /// Returns the bottleneck of a direction.
    package func bottleneck(_ direction: Direction) -> Bottleneck { direction == .forward ? forward : backward }

    /// Sends a packet that has `size` bytes on the wire, and returns its fate.
    @discardableResult
    package mutating func send(_ payload: Payload, size: Int, flow: Int, _ direction: Direction, now: Instant) -> Fate {
        let path = paths[flow]
        // Each packet draws the same number of random numbers, whatever its fate.
        let side = direction == .forward ? 0 : 1
        let isLost = generator.chance(path.chanceOfLoss(direction, afterLoss: wasLost[flow][side]))
        wasLost[flow][side] = isLost
        let jitter = path.jitter * min(3, abs(generator.normal()))
        let passage =
            direction == .forward
            ? forward.send(size: size, flow: flow, now: now) : backward.send(size: size, flow: flow, now: now)
        guard let passage else { return .dropped }
        guard !isLost else { return .lost(queueingDelay: passage.queueingDelay) }
        let arrival = passage.departure.advanced(by: path.delay + jitter)
        let inOrder = max(arrival, latest[flow][side] ?? arrival)
        latest[flow][side] = inOrder
        transits.push((flow, direction, size, payload), arrival: inOrder)
        return .delivered(queueingDelay: passage.queueingDelay)
    }

    /// Removes and returns the packet that arrived first, if one has by `now`.
    package mutating func poll(now: Instant) -> Delivery? {
        guard let (arrival, element) = transits.pop(now: now) else { return nil }
        return Delivery(
            flow: element.flow, direction: element.direction, size: element.size, arrival: arrival,
            payload: element.payload)
    }
}
