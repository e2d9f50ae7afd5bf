package import RTCShareWireFormat

/// Flows of several paths through one bottleneck each way: the network of RFC 8867 §4.1.
///
///     left ends ──▶ forward bottleneck ──▶ each flow's delay, jitter, loss ──▶ right ends
///     left ends ◀── each flow's delay, jitter, loss ◀── backward bottleneck ◀── right ends
///
/// The same seed and the same sends give the same deliveries.
package struct Dumbbell<Payload: Sendable>: Sendable {
    /// Which way a packet goes.
    package enum Direction: Hashable, Sendable, CaseIterable {
        /// From a left end to a right one.
        case forward
        /// From a right end to a left one.
        case backward

        /// The other way.
        package var opposite: Direction { self == .forward ? .backward : .forward }
    }

    /// What one flow's packets meet beside the bottlenecks.
    package struct Path: Hashable, Sendable {
        /// How long an undisturbed packet is under way, each way.
        package var delay: Duration
        /// The standard deviation of what is added to `delay`: the size of a number of the normal distribution, cut at
        /// three deviations (RFC 8868 §4.5.1). It reorders nothing.
        package var jitter: Duration
        /// The share of forward packets that vanish after the bottleneck, 0...1.
        package var forwardLoss: Double
        /// The share of backward packets that vanish after the bottleneck, 0...1.
        package var backwardLoss: Double

        /// How many packets in a row vanish, in the mean: 1 where each has the same chance, more for bursts (Gilbert's
        /// model, whose bad state loses everything). The share that vanishes in all stays what it is.
        package var lossBurst: Double

        /// A path; without jitter and loss where nothing is said.
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

        /// The chance that a packet vanishes whose predecessor did or did not.
        fileprivate func chanceOfLoss(_ direction: Direction, afterLoss: Bool) -> Double {
            let share = direction == .forward ? forwardLoss : backwardLoss
            guard lossBurst > 1, share < 1 else { return share }
            return afterLoss ? 1 - 1 / lossBurst : min(1, share / (1 - share) / lossBurst)
        }
    }

    /// What becomes of a packet that was sent.
    package enum Fate: Hashable, Sendable {
        /// It arrives, after it waited this long at the bottleneck.
        case delivered(queueingDelay: Duration)
        /// It passes the bottleneck after this wait, and vanishes by chance.
        case lost(queueingDelay: Duration)
        /// The bottleneck's queue has no room for it.
        case dropped
    }

    /// A packet at the end that it was sent to.
    package struct Delivery: Sendable {
        /// The flow that it is of.
        package let flow: Int
        /// Which way it went.
        package let direction: Direction
        /// Its bytes on the wire.
        package let size: Int
        /// When it arrived.
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
    /// Whether the last packet of each flow and direction vanished.
    private var wasLost: [[Bool]]
    private var generator: SeededGenerator
    private var transits = ArrivalQueue<(flow: Int, direction: Direction, size: Int, payload: Payload)>()

    /// A network with a path for each flow, numbered from 0.
    package init(forward: Bottleneck, backward: Bottleneck, paths: [Path], seed: UInt64) {
        self.forward = forward
        self.backward = backward
        self.paths = paths
        latest = paths.map { _ in [nil, nil] }
        wasLost = paths.map { _ in [false, false] }
        generator = SeededGenerator(seed: seed)
    }

    /// When the next packet arrives; nil while none is under way.
    package var nextArrival: Instant? { transits.nextArrival }

    /// The bottleneck of a direction.
    package func bottleneck(_ direction: Direction) -> Bottleneck { direction == .forward ? forward : backward }

    /// Gives the network a packet that has `size` bytes on the wire, and says what will become of it.
    @discardableResult
    package mutating func send(_ payload: Payload, size: Int, flow: Int, _ direction: Direction, now: Instant) -> Fate {
        let path = paths[flow]
        // Each packet draws the same count of numbers whatever becomes of it.
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

    /// The packet that arrived first, if one has by `now`.
    package mutating func poll(now: Instant) -> Delivery? {
        guard let (arrival, element) = transits.pop(now: now) else { return nil }
        return Delivery(
            flow: element.flow, direction: element.direction, size: element.size, arrival: arrival,
            payload: element.payload)
    }
}
