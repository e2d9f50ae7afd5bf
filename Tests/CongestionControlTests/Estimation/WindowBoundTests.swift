import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

/// The memory used when feedback reports impossible arrivals, or comes as often as it can.
@Suite struct WindowBoundTests {
    private typealias PacketResult = TransportFeedbackTracker.PacketResult

    /// The reported order of arrivals.
    enum Arrivals: CaseIterable {
        case atOnce, backwards, alternately, agesApart, beforeTime

        func arrival(_ index: Int) -> Duration {
            switch self {
            case .atOnce: .seconds(1)
            case .backwards: .seconds(100) - .microseconds(index * 100)
            case .alternately: .seconds(100) + .microseconds(index % 2 == 0 ? index : -index)
            case .agesApart: .seconds(index % 3 * 1_000_000_000)
            case .beforeTime: .nanoseconds(Int64.min) + .microseconds(index)
            }
        }
    }

    /// As many packets as can be joined with feedback at all, sent a tenth of a millisecond apart.
    private func results(_ arrivals: Arrivals) -> [PacketResult] {
        (0..<TransportFeedbackTracker.capacity).map { index in
            PacketResult(
                number: TransportSequenceNumber(UInt16(index)), size: 1000,
                sent: Instant(nanoseconds: 1_000_000_000 + Int64(index) * 100_000), arrival: arrivals.arrival(index))
        }
    }

    @Test(
        "The window keeps only as many reported packets as an estimate needs",
        arguments: Arrivals.allCases)
    func throughput(arrivals: Arrivals) {
        var estimator = RobustThroughputEstimator()
        for _ in 0..<3 {
            estimator.receive(results(arrivals))
            #expect(estimator.window.count <= RobustThroughputEstimator.packetLimit)
        }
        // Each looks for its place among all.
        for result in results(arrivals) {
            estimator.insert(
                .init(
                    sent: result.sent.nanoseconds, arrival: (result.arrival ?? .zero).wholeNanoseconds, size: 1000))
            #expect(estimator.window.count <= 2 * RobustThroughputEstimator.packetLimit)
        }
    }

    @Test("Packets removed early change no estimate")
    func throughputOfMany() {
        var (whole, parts) = (RobustThroughputEstimator(), RobustThroughputEstimator())
        let all = results(.alternately)
        whole.receive(all)
        for start in stride(from: 0, to: all.count, by: 64) { parts.receive(Array(all[start..<start + 64])) }
        #expect(whole.window.map(\.sent) == parts.window.map(\.sent))
        #expect(whole.estimate != nil && whole.estimate == parts.estimate)
    }

    @Test("A limited number of delayed packets is remembered when all arrive at once")
    func recentArrivals() {
        var (arrivals, queueing) = (RecentArrivals(), QueueingDelay())
        let first = PacketResult(
            number: TransportSequenceNumber(0), size: 1000, sent: Instant(nanoseconds: 0), arrival: .zero)
        queueing.receive([first], now: Instant(nanoseconds: 0))
        let late = (0..<5000).map { index in
            PacketResult(
                number: TransportSequenceNumber(UInt16(index)), size: 1000, sent: Instant(nanoseconds: 0),
                arrival: .milliseconds(100))
        }
        arrivals.receive(late, queueing: queueing)
        #expect(arrivals.packets.count == RecentArrivals.capacity)
    }

    @Test("The history covers less time when feedback comes thousands of times a second")
    func queueingDelays() {
        var queueing = QueueingDelay()
        for index in 0..<10_000 {
            let now = Instant(nanoseconds: Int64(index) * 100_000)
            let result = PacketResult(
                number: TransportSequenceNumber(UInt16(index)), size: 1000, sent: now,
                arrival: .nanoseconds(now.nanoseconds) + .milliseconds(index == 0 ? 10 : 50))
            queueing.receive([result], now: now)
        }
        #expect(queueing.samples.count == QueueingDelay.historyCapacity)
        #expect(queueing.current == .milliseconds(40), "the least is known all the same")
    }

    @Test("Only as many reductions are remembered as are needed")
    func cuts() {
        var competing = CompetingRate()
        for index in 0..<1000 { competing.didCut(now: Instant(nanoseconds: Int64(index))) }
        #expect(competing.cutTimes == [998, 999].map { Instant(nanoseconds: $0) })
    }

    @Test("Thousands of changes of the limit per second leave a bounded history and no faster growth")
    func lowestTargets() {
        var estimator = SendSideEstimator(
            start: .kilobitsPerSecond(1000), minimum: .kilobitsPerSecond(100), maximum: .kilobitsPerSecond(9000))
        let start = Instant(nanoseconds: 1_000_000_000)
        // The first seconds are over, and the first loss is met.
        _ = estimator.receive(LossSample(fractionLost: 1, packets: 20), now: start)
        let second = start.advanced(by: .seconds(3))
        _ = estimator.receive(LossSample(fractionLost: 0, packets: 10_000), now: second)
        for step in 0..<5000 {
            estimator.setRemoteLimit(.bitsPerSecond(1_000_000 + step * 10))
            estimator.update(waiting: .zero, now: second.advanced(by: .microseconds(step * 100)))
        }
        #expect(estimator.lowest.count == SendSideEstimator.lowestCapacity)
        estimator.setRemoteLimit(nil)
        estimator.update(waiting: .zero, now: second.advanced(by: .milliseconds(999)))
        #expect(estimator.target <= .kilobitsPerSecond(1081))
    }

    @Test(
        "The estimator's memory stays bounded whatever a receiver reports a thousand times a second",
        arguments: Arrivals.allCases)
    func whole(arrivals: Arrivals) {
        var estimator = BandwidthEstimator(configuration: .init())
        var now = Instant(nanoseconds: 1_000_000_000)
        estimator.networkAvailable(now: now)
        var index = 0
        for _ in 0..<2000 {
            now = now.advanced(by: .milliseconds(1))
            let results = (0..<5).map { _ in
                index += 1
                let number = TransportSequenceNumber(UInt16(truncatingIfNeeded: index))
                estimator.packetSent(number: number, size: 1000, cluster: nil, now: now)
                return PacketResult(
                    number: number, size: 1000, sent: now,
                    arrival: index % 100 == 0 ? nil : arrivals.arrival(index))
            }
            estimator.receive(results, now: now)
            estimator.setRemoteEstimate(.kilobitsPerSecond(500 + index % 1000), now: now)
            estimator.process(now: now)
            while estimator.pollProbe() != nil {}
            #expect(estimator.throughput.window.count <= RobustThroughputEstimator.packetLimit)
            #expect(estimator.recentArrivals.packets.count <= RecentArrivals.capacity)
            #expect(estimator.queueing.samples.count <= QueueingDelay.historyCapacity)
            #expect(estimator.sendSide.lowest.count <= SendSideEstimator.lowestCapacity)
            #expect(estimator.target >= .kilobitsPerSecond(5) && estimator.target <= .kilobitsPerSecond(2500))
        }
    }
}
