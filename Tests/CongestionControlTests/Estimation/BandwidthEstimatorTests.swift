import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareCongestionControl

/// The scenarios of libwebrtc's `goog_cc_network_control_unittest` and `send_side_bandwidth_estimation_unittest`: their
/// inputs and bounds.
@Suite struct BandwidthEstimatorTests {
    private static func configuration(start: Int, minimum: Int = 10, maximum: Int) -> BandwidthEstimator.Configuration {
        var configuration = BandwidthEstimator.Configuration()
        configuration.start = .kilobitsPerSecond(start)
        configuration.minimum = .kilobitsPerSecond(minimum)
        configuration.maximum = .kilobitsPerSecond(maximum)
        return configuration
    }

    private static func probes(_ estimator: inout BandwidthEstimator) -> [DataRate] {
        var rates: [DataRate] = []
        while let probe = estimator.pollProbe() { rates.append(probe.rate) }
        return rates
    }

    private let now = Instant(nanoseconds: 1_000_000_000)

    @Test("The first target is the start rate, and higher rates are probed up to the maximum")
    func start() {
        var estimator = BandwidthEstimator(configuration: Self.configuration(start: 60, maximum: 300))
        #expect(estimator.nextDeadline == nil)
        #expect(Self.probes(&estimator).isEmpty)
        estimator.networkAvailable(now: now)
        #expect(estimator.target == .kilobitsPerSecond(60))
        #expect(estimator.pacingRate == .kilobitsPerSecond(150))
        #expect(Self.probes(&estimator) == [.kilobitsPerSecond(180), .kilobitsPerSecond(300)])
        #expect(estimator.nextDeadline == now.advanced(by: .milliseconds(25)))
    }

    @Test("The deadline is about a second away soon after all feedback came, and near while feedback is awaited")
    func rest() throws {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(5000)),
            configuration: Self.configuration(start: 300, maximum: 300))
        flow.run(.seconds(10))
        flow.isSending = false
        flow.canPad = false
        flow.run(.milliseconds(200))
        let soonAfter = flow.estimator.nextDeadline
        #expect(try #require(soonAfter) - flow.now <= .milliseconds(25))
        flow.run(.milliseconds(300))
        let answered = flow.estimator.nextDeadline
        #expect(try #require(answered) - flow.now > .milliseconds(500))
        flow.isSending = true
        flow.givesFeedback = false
        flow.run(.milliseconds(50))
        flow.isSending = false
        flow.run(.seconds(1))
        let unanswered = flow.estimator.nextDeadline
        #expect(try #require(unanswered) - flow.now <= .milliseconds(25))
    }

    @Test("The receiver's estimate bounds the target at once")
    func remoteEstimate() {
        var estimator = BandwidthEstimator(configuration: Self.configuration(start: 200, maximum: 1500))
        estimator.networkAvailable(now: now)
        estimator.setRemoteEstimate(.kilobitsPerSecond(120), now: now)
        #expect(estimator.target == .kilobitsPerSecond(120))
        #expect(estimator.pacingRate == .kilobitsPerSecond(300))
        #expect(estimator.limitation == .remote)
        estimator.setRemoteEstimate(.kilobitsPerSecond(60), now: now)
        #expect(estimator.target == .kilobitsPerSecond(60))
        estimator.setRemoteEstimate(.kilobitsPerSecond(1000), now: now)
        #expect(estimator.target == .kilobitsPerSecond(1000))
    }

    /// A key frame after little other traffic, on a path that carries it as fast as it leaves, and on one that does not.
    @Test("A large frame sent at the pacing rate is not a queue", arguments: [1200, 600])
    func largePicture(capacity: Int) {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(50), rate: .kilobitsPerSecond(capacity)),
            configuration: Self.configuration(start: 300, maximum: 400))
        flow.run(.seconds(10))
        flow.demand = .kilobitsPerSecond(50)
        flow.run(.seconds(2))
        let before = flow.estimator.target
        #expect(before > .kilobitsPerSecond(350))
        flow.produce(picture: 36_000)
        var lowest = before
        for _ in 0..<200 {
            flow.run(.milliseconds(10))
            lowest = min(lowest, flow.estimator.estimate)
            if capacity == 1200 { #expect(flow.estimator.target >= before) }
        }
        // 1000 kbit/s, 2.5 times the target, queue where 600 are carried: for a moment less follows.
        #expect(lowest > .kilobitsPerSecond(250), "\(lowest)")
        #expect(flow.estimator.target > .kilobitsPerSecond(250))
    }

    @Test(
        "Large frames are sent faster one after the other when the maximum, not the path, bounds the rate",
        // Of a path that they fill a quarter more is tried now and then.
        arguments: [(100_000, 40_000...80_000), (10_000, 6250...12_500), (2000, 0...5500)])
    func largePictures(capacity: Int, pacing: ClosedRange<Int>) {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(10), rate: .kilobitsPerSecond(capacity)),
            configuration: Self.configuration(start: 1000, maximum: 2500))
        flow.run(.seconds(8))
        flow.isSending = false
        // A step has one packet: at 40 Mbit/s one leaves every 240 microseconds.
        flow.step = .microseconds(200)
        for _ in 0..<8 {
            flow.produce(picture: 120_000)
            flow.run(.seconds(1.5))
        }
        let rate = Int(flow.estimator.pacingRate.bitsPerSecond / 1000)
        #expect(pacing.contains(rate), "\(rate)")
        if capacity > 2500 { #expect(flow.estimator.target >= .kilobitsPerSecond(2400)) }
    }

    @Test("A new path resets the estimate to at most the start rate, and is probed")
    func pathChange() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(20), rate: .kilobitsPerSecond(2000)),
            configuration: Self.configuration(start: 120, maximum: 1200))
        flow.run(.seconds(3))
        #expect(flow.estimator.target > .kilobitsPerSecond(900))
        flow.estimator.networkUnavailable(now: flow.now)
        flow.estimator.pathChanged(now: flow.now)
        #expect(flow.estimator.target == .kilobitsPerSecond(120))
        #expect(flow.estimator.pollProbe() == nil)
        flow.estimator.networkAvailable(now: flow.now)
        #expect(Self.probes(&flow.estimator) == [.kilobitsPerSecond(360), .kilobitsPerSecond(720)])
    }

    @Test("The estimate follows the link up and down")
    func convergence() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(100), rate: .kilobitsPerSecond(500)),
            configuration: Self.configuration(start: 300, maximum: 1500))
        flow.run(.seconds(25))
        #expect((350...550).contains(flow.estimator.target.bitsPerSecond / 1000))
        flow.forward.conditions.rate = .kilobitsPerSecond(800)
        flow.run(.seconds(20))
        #expect((600...900).contains(flow.estimator.target.bitsPerSecond / 1000))
        flow.forward.conditions.rate = .kilobitsPerSecond(100)
        flow.forward.conditions.delay = .milliseconds(200)
        flow.run(.seconds(30))
        #expect((50...115).contains(flow.estimator.target.bitsPerSecond / 1000))
    }

    @Test("An estimate of 3 Mbit/s is reached within a second, and at least 85 percent of it is used")
    func fastStart() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(25), rate: .kilobitsPerSecond(3000)),
            configuration: Self.configuration(start: 300, maximum: 6000))
        flow.run(.seconds(2))
        flow.longestDelay = .zero
        #expect(flow.throughput(over: .seconds(18)) > .kilobitsPerSecond(2550))
        #expect(flow.longestDelay < .milliseconds(125))
    }

    @Test("The queue of a link that falls to a quarter is drained within three seconds")
    func fall() {
        var flow = ControlledFlow(
            LinkConditions(
                delay: .milliseconds(25), rate: .kilobitsPerSecond(3000), queueTimeLimit: .milliseconds(300)),
            configuration: Self.configuration(start: 300, maximum: 6000))
        flow.run(.seconds(10))
        flow.forward.conditions.rate = .kilobitsPerSecond(750)
        flow.run(.seconds(3))
        flow.longestDelay = .zero
        flow.run(.seconds(2))
        #expect(flow.longestDelay < .milliseconds(100))
    }

    @Test("A receiver's bound applies while it lasts and leaves no trace")
    func remoteEstimateOnPath() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(50), rate: .kilobitsPerSecond(2000)),
            configuration: Self.configuration(start: 1000, maximum: 5000))
        flow.run(.seconds(10))
        #expect(flow.estimator.target > .kilobitsPerSecond(1500))
        flow.estimator.setRemoteEstimate(.kilobitsPerSecond(250), now: flow.now)
        flow.run(.seconds(1))
        #expect(flow.estimator.target == .kilobitsPerSecond(250))
        flow.estimator.setRemoteEstimate(.kilobitsPerSecond(10_000), now: flow.now)
        flow.run(.seconds(10))
        #expect(flow.estimator.target > .kilobitsPerSecond(1500))
    }

    @Test("A route is not searched beyond the receiver's bound")
    func remoteEstimateWithoutProbes() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(50)), configuration: Self.configuration(start: 1000, maximum: 50_000))
        flow.estimator.setRemoteEstimate(.kilobitsPerSecond(300), now: flow.now)
        flow.run(.seconds(3))
        let probes = flow.probesSent
        flow.run(.seconds(10))
        #expect(flow.probesSent == probes)
        #expect(flow.estimator.target == .kilobitsPerSecond(300))
        flow.estimator.setRemoteEstimate(.kilobitsPerSecond(10_000), now: flow.now)
        flow.run(.seconds(10))
        #expect(flow.probesSent > probes)
    }

    @Test("Sending nothing does not reduce the estimate")
    func pause() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(100), rate: .kilobitsPerSecond(2000)),
            configuration: Self.configuration(start: 1000, maximum: 5000))
        flow.run(.seconds(1))
        flow.isSending = false
        flow.run(.seconds(4))
        #expect(flow.estimator.target >= .kilobitsPerSecond(1000))
    }

    @Test("Packets without numbers, such as those of audio, do not reduce the estimate")
    func unnumbered() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(100), rate: .kilobitsPerSecond(2000)),
            configuration: Self.configuration(start: 1000, maximum: 5000))
        flow.run(.seconds(1))
        flow.isSending = false
        for _ in 0..<1000 {
            flow.run(.milliseconds(20))
            flow.estimator.packetSent(number: nil, size: 100, cluster: nil, now: flow.now)
        }
        #expect(flow.estimator.target >= .kilobitsPerSecond(1000))
    }

    @Test("The target falls to the minimum while feedback is missing")
    func feedbackMissing() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(100), rate: .kilobitsPerSecond(1000)),
            configuration: Self.configuration(start: 300, maximum: 5000))
        flow.run(.seconds(10))
        flow.givesFeedback = false
        flow.run(.seconds(5))
        #expect(flow.estimator.target < .kilobitsPerSecond(40))
        #expect(flow.estimator.limitation == .feedback)
        flow.givesFeedback = true
        flow.run(.seconds(10))
        #expect(flow.estimator.target > .kilobitsPerSecond(500))
    }

    @Test("Most of the path is used despite five percent of random loss")
    func randomLoss() {
        var flow = ControlledFlow(
            LinkConditions(loss: 0.05, delay: .milliseconds(25), rate: .kilobitsPerSecond(3000)),
            configuration: Self.configuration(start: 300, maximum: 6000))
        flow.run(.seconds(5))
        #expect(flow.throughput(over: .seconds(20)) > .kilobitsPerSecond(1800))
    }

    @Test("Receiver reports raise and lower the rate without transport-wide feedback")
    func reports() {
        var estimator = BandwidthEstimator(configuration: Self.configuration(start: 300, maximum: 1000))
        estimator.networkAvailable(now: now)
        var time = now
        func run(loss: Double, seconds: Int) {
            for _ in 0..<seconds {
                for _ in 0..<40 {
                    time = time.advanced(by: .milliseconds(25))
                    estimator.packetSent(number: nil, size: 1200, cluster: nil, now: time)
                    estimator.process(now: time)
                }
                estimator.receive(LossSample(fractionLost: loss, packets: 40), now: time)
            }
        }
        run(loss: 0, seconds: 20)
        #expect(estimator.target >= .kilobitsPerSecond(500))
        run(loss: 0.15, seconds: 20)
        #expect(estimator.target <= .kilobitsPerSecond(300))
        #expect(estimator.limitation == .loss)
        #expect(estimator.fractionLost == 0.15)
    }

    @Test("No queue grows on a path that became slow during 20 idle minutes with probes")
    func idle() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(25), rate: .kilobitsPerSecond(3000)),
            configuration: Self.configuration(start: 300, minimum: 30, maximum: 2500))
        flow.run(.seconds(10))
        let before = flow.estimator.target
        flow.isSending = false
        flow.run(.seconds(60))
        flow.step = .milliseconds(10)
        #expect(flow.estimator.target >= before * 0.8)
        flow.forward.conditions.rate = .kilobitsPerSecond(750)
        flow.run(.seconds(1140))
        flow.step = .milliseconds(1)
        flow.isSending = true
        flow.longestDelay = .zero
        flow.run(.seconds(5))
        #expect(flow.longestDelay < .milliseconds(275))
        flow.run(.seconds(5))
        #expect(flow.estimator.target > .kilobitsPerSecond(400))
    }

    @Test("Feedback with absurd times, of packets never sent, or repeated does not trap")
    func absurdFeedback() {
        var generator = SeededGenerator(seed: 5)
        var estimator = BandwidthEstimator(configuration: Self.configuration(start: 300, maximum: 2500))
        estimator.networkAvailable(now: now)
        var time = now
        for round in 0..<2000 {
            time = time.advanced(by: .milliseconds(Int64(generator.next() % 50)))
            let number = TransportSequenceNumber(UInt16(truncatingIfNeeded: round))
            let size = round % 7 == 0 ? Int.max : Int(generator.next() % 1500)
            estimator.packetSent(number: number, size: size, cluster: Int(generator.next() % 40) - 3, now: time)
            let results = (0..<4).map { _ in
                let arrival: Duration? =
                    switch generator.next() % 5 {
                    case 0: nil
                    case 1: .seconds(Int64.min / 4)
                    case 2: .seconds(Int64.max / 4)
                    default: .milliseconds(Int64(truncatingIfNeeded: generator.next() % 1_000_000))
                    }
                return TransportFeedbackTracker.PacketResult(
                    number: TransportSequenceNumber(UInt16(truncatingIfNeeded: generator.next())),
                    size: Int(generator.next() % 100_000), sent: time, arrival: arrival)
            }
            estimator.receive(results + results, now: time)
            estimator.setRoundTripTime(.seconds(Int64(generator.next() % 100_000)), now: time)
            estimator.process(now: time)
            #expect(estimator.target >= .kilobitsPerSecond(10))
            #expect(estimator.target <= .kilobitsPerSecond(2500))
        }
    }

    @Test("Forged feedback changes only counters")
    func forgedFeedback() {
        var tracker = TransportFeedbackTracker()
        var estimator = BandwidthEstimator(configuration: Self.configuration(start: 300, maximum: 2500))
        estimator.networkAvailable(now: now)
        let target = estimator.target
        for round in 0..<200 {
            let feedback = TransportFeedback(
                sender: SynchronizationSource(1), media: SynchronizationSource(2),
                baseSequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: round * 977)),
                referenceTime: round % 2 == 0 ? 0x7F_FFFF : -0x80_0000,
                feedbackPacketCount: UInt8(truncatingIfNeeded: round * 91),
                deltas: [Int16.min, nil, Int16.max, -1, nil])
            let results = tracker.receive(feedback)
            #expect(results.isEmpty)
            estimator.receive(results, now: now.advanced(by: .milliseconds(round)))
        }
        #expect(estimator.target == target)
        #expect(tracker.feedbackReceived == 200)
        #expect(tracker.packetsAcknowledged == 0)
    }

    @Test("Feedback that is delayed by minutes does not break the estimate")
    func heldFeedback() {
        var flow = ControlledFlow(
            LinkConditions(delay: .milliseconds(50), rate: .kilobitsPerSecond(1000)),
            configuration: Self.configuration(start: 300, maximum: 5000))
        flow.run(.seconds(2))
        flow.backward.conditions.delay = .seconds(300)
        flow.run(.seconds(5))
        flow.step = .milliseconds(10)
        flow.run(.seconds(300))
        #expect(flow.estimator.target >= .kilobitsPerSecond(10))
    }
}
