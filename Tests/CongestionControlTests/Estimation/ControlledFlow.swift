import RTCShareRTP
import RTCShareWireFormat
import TestSupport

@testable import RTCShareCongestionControl

/// A sender with a pacer, a source that follows the target, a link each way and a receiver that gives transport-wide
/// feedback, and a receiver report each second, in virtual time: what the estimator is tested against.
struct ControlledFlow: ~Copyable {
    private struct Packet: Sendable {
        var number: TransportSequenceNumber
        var size: Int
    }

    static let packetSize = 1200
    var step = Duration.milliseconds(1)

    var estimator: BandwidthEstimator
    var forward: SimulatedLink<Int>
    var backward: SimulatedLink<TransportFeedback>
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// The maximum rate of the source; nil for the target rate.
    var demand: DataRate?
    /// Whether the source produces anything.
    var isSending = true
    /// Whether the receiver tells what arrives.
    var givesFeedback = true
    /// Whether there is anything to pad with.
    var canPad = true
    var framesPerSecond = 30.0
    var feedbackInterval = Duration.milliseconds(50)
    private(set) var bytesArrived = 0
    private(set) var bytesSent = 0
    private(set) var probesSent = 0
    /// The longest time that a packet spent on the link, since last reset.
    var longestDelay = Duration.zero
    private(set) var queue: [Int] = []
    private var tracker = TransportFeedbackTracker()
    private var builder = TransportFeedbackBuilder(sender: SynchronizationSource(1))
    private var arrivals: [TransportFeedbackBuilder.Arrival] = []
    private var nextNumber = 0
    private var nextFrame: Instant
    private var nextFeedback: Instant
    private var nextReport: Instant
    /// The packets that arrived up to the last report, and since.
    private var arrived = (reported: 0, highest: 0, count: 0)
    private var reports: [(arrival: Instant, report: LossReport, packets: Int)] = []
    private var sentTimes: [Int: (time: Instant, size: Int)] = [:]
    private var pacerDebt = 0.0
    private var paddingBudget = 0.0
    private var probe: (cluster: ProbeCluster, bytes: Int, packets: Int, start: Instant)?

    init(
        _ conditions: LinkConditions, backward: LinkConditions? = nil,
        configuration: BandwidthEstimator.Configuration = .init(), seed: UInt64 = 1
    ) {
        forward = SimulatedLink(conditions, seed: seed)
        self.backward = SimulatedLink(backward ?? LinkConditions(delay: conditions.delay), seed: seed &+ 1)
        nextFrame = now
        nextFeedback = now
        nextReport = now.advanced(by: .seconds(1))
        estimator = BandwidthEstimator(configuration: configuration)
        estimator.networkAvailable(now: now)
    }

    var queuedBytes: Int { queue.reduce(0, +) }

    /// Lets the time pass.
    mutating func run(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while now < end {
            now = now.advanced(by: step)
            deliver()
            produce()
            pace()
            if let deadline = estimator.nextDeadline, deadline <= now { estimator.process(now: now) }
        }
    }

    /// Puts a picture of so many bytes into the queue, whatever the target allows.
    mutating func produce(picture bytes: Int) {
        queue += Array(repeating: Self.packetSize, count: bytes / Self.packetSize)
    }

    /// The rate at which packets arrived while the time passed.
    mutating func throughput(over duration: Duration) -> DataRate {
        let before = bytesArrived
        run(duration)
        return DataRate(byteCount: bytesArrived - before, over: duration)
    }

    private mutating func produce() {
        guard nextFrame <= now else { return }
        nextFrame = nextFrame.advanced(by: .seconds(1 / framesPerSecond))
        guard isSending else { return }
        let rate = min(estimator.target, demand ?? estimator.target)
        var bytes = max(100, rate.bytes(in: .seconds(1 / framesPerSecond)))
        // A sender that is this far behind drops the frame.
        guard estimator.target.duration(ofBytes: queuedBytes) < .milliseconds(250) else { return }
        while bytes > 0 {
            queue.append(min(bytes, Self.packetSize))
            bytes -= Self.packetSize
        }
    }

    private mutating func pace() {
        if probe == nil, let cluster = estimator.pollProbe() { probe = (cluster, 0, 0, now) }
        let perStep = Double(estimator.pacingRate.bitsPerSecond) / 8 * step.seconds
        pacerDebt = max(0, pacerDebt - perStep)
        if let current = probe {
            sendProbe(current)
            return
        }
        while let size = queue.first, pacerDebt <= 0 {
            queue.removeFirst()
            send(size, cluster: nil)
            pacerDebt += Double(size)
        }
        paddingBudget += Double(estimator.paddingRate.bitsPerSecond) / 8 * step.seconds
        paddingBudget = min(paddingBudget, 5000)
        while queue.isEmpty, canPad, paddingBudget > 0, pacerDebt <= 0, estimator.paddingRate > .zero {
            send(250, cluster: nil)
            pacerDebt += 250
        }
    }

    private mutating func sendProbe(_ current: (cluster: ProbeCluster, bytes: Int, packets: Int, start: Instant)) {
        var current = current
        let due = current.cluster.rate.bytes(in: now - current.start) + 1
        while current.bytes < due {
            guard canPad || !queue.isEmpty else { break }
            let size = queue.isEmpty ? Self.packetSize : queue.removeFirst()
            send(size, cluster: current.cluster.identifier)
            current.bytes += size
            current.packets += 1
            if current.bytes >= current.cluster.minimumBytes, current.packets >= current.cluster.minimumPackets {
                probesSent += 1
                probe = nil
                return
            }
        }
        probe = current
        if now - current.start > .milliseconds(500) { probe = nil }
    }

    private mutating func send(_ size: Int, cluster: Int?) {
        let number = TransportSequenceNumber(UInt16(truncatingIfNeeded: nextNumber))
        tracker.packetSent(number, size: size, now: now)
        estimator.packetSent(number: number, size: size, cluster: cluster, now: now)
        sentTimes[nextNumber] = (now, size)
        forward.send(nextNumber, size: size, now: now)
        if cluster == nil { paddingBudget = max(-5000, paddingBudget - Double(size)) }
        bytesSent += size
        nextNumber += 1
    }

    private mutating func deliver() {
        while let arrival = forward.nextArrival, arrival <= now, let number = forward.pollFirst(now: now) {
            guard let packet = sentTimes.removeValue(forKey: number) else { continue }
            longestDelay = max(longestDelay, arrival - packet.time)
            bytesArrived += packet.size
            arrived.highest = max(arrived.highest, number + 1)
            arrived.count += 1
            let wireNumber = TransportSequenceNumber(UInt16(truncatingIfNeeded: number))
            arrivals.append(.init(sequenceNumber: wireNumber, instant: arrival))
        }
        if nextFeedback <= now {
            nextFeedback = now.advanced(by: feedbackInterval)
            if !arrivals.isEmpty, givesFeedback {
                for feedback in builder.makeFeedback(for: arrivals, media: SynchronizationSource(2)) {
                    backward.send(feedback, size: 60, now: now)
                }
            }
            arrivals = []
        }
        if nextReport <= now { report() }
        while let first = reports.first, first.arrival <= now {
            reports.removeFirst()
            estimator.receive(
                LossSample(fractionLost: first.report.fractionLost, packets: first.packets), now: now)
        }
        for feedback in backward.poll(now: now) {
            estimator.receive(tracker.receive(feedback), now: now)
            estimator.setRoundTripTime(forward.conditions.delay + backward.conditions.delay, now: now)
        }
    }

    /// The receiver reports what it lost since it last did.
    private mutating func report() {
        nextReport = now.advanced(by: .seconds(1))
        let expected = arrived.highest - arrived.reported
        guard givesFeedback, expected > 0 else { return }
        let lost = max(expected - arrived.count, 0)
        let report = LossReport(
            fractionLost: Double(lost) / Double(expected), packetsLost: lost, extendedHighestSequenceNumber: 0,
            jitter: .zero, roundTripTime: nil)
        reports.append((now.advanced(by: backward.conditions.delay), report, expected))
        arrived = (arrived.highest, arrived.highest, 0)
    }
}
