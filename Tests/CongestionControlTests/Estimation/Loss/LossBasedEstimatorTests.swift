import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

/// Scenarios of libwebrtc's `loss_based_bwe_v2_test`: packets of 15,000 bytes, intervals of 250 ms.
@Suite struct LossBasedEstimatorTests {
    private typealias Result = TransportFeedbackTracker.PacketResult

    private struct Fixture {
        var estimator: LossBasedEstimator
        var number: UInt16 = 0

        init(
            start: Int? = 600, windowSize: Int = 2, minimumObservations: Int = 1, candidateFactors: [Double]? = nil,
            lowerBoundFactor: Double = 1, upperBoundBalance: Int = 100
        ) {
            var configuration = LossBasedEstimator.Configuration()
            configuration.windowSize = windowSize
            configuration.minimumObservations = minimumObservations
            if let candidateFactors { configuration.candidateFactors = candidateFactors }
            configuration.lowerBoundFactor = lowerBoundFactor
            configuration.upperBoundBalance = .kilobitsPerSecond(upperBoundBalance)
            estimator = LossBasedEstimator(configuration: configuration)
            if let start { estimator.setEstimate(.kilobitsPerSecond(start)) }
        }

        var kilobits: Double? { estimator.estimate.map { Double($0.bitsPerSecond) / 1000 } }

        /// Packets from `interval` × 250 ms on, each lost or not, `spacing` ms apart.
        mutating func feed(
            interval: Int, lost: [Bool], spacing: Int = 250, lostSize: Int = 15_000, delayBased: Int? = nil,
            isApplicationLimited: Bool = false
        ) {
            let results = lost.enumerated().map { index, isLost in
                defer { number += 1 }
                // The last packet ends the interval however close the ones before are.
                let offset = index == lost.count - 1 && spacing < 250 ? 250 : index * spacing
                return Result(
                    number: TransportSequenceNumber(number), size: isLost ? lostSize : 15_000,
                    sent: Instant(nanoseconds: Int64(interval * 250 + offset) * 1_000_000),
                    arrival: isLost ? nil : .milliseconds(interval * 250 + offset + 250))
            }
            estimator.update(
                results, delayBased: delayBased.map { .kilobitsPerSecond($0) },
                isApplicationLimited: isApplicationLimited)
        }
    }

    private let none = [false, false]
    private let half = [false, true]
    private let all = [true, true]
    private let tenth = [Bool](repeating: false, count: 9) + [true]

    @Test("There is no estimate without a start rate or a delay-based estimate")
    func noInitialization() {
        var fixture = Fixture(start: nil)
        fixture.feed(interval: 0, lost: none)
        #expect(!fixture.estimator.isReady && fixture.estimator.estimate == nil)
    }

    @Test("Less than an interval is not enough, nor are two intervals when three are required")
    func notEnough() {
        var fixture = Fixture()
        fixture.feed(interval: 0, lost: [false])
        #expect(!fixture.estimator.isReady && fixture.estimator.estimate == nil)
        fixture = Fixture(windowSize: 15, minimumObservations: 3)
        fixture.feed(interval: 0, lost: none, delayBased: 700)
        fixture.feed(interval: 1, lost: none, delayBased: 700)
        #expect(!fixture.estimator.isReady && fixture.kilobits == 700)
        fixture.feed(interval: 2, lost: none, delayBased: 700)
        #expect(fixture.estimator.isReady)
    }

    @Test("Without loss the estimate equals the delay-based one as it rises and falls")
    func noLoss() {
        var fixture = Fixture()
        fixture.feed(interval: 0, lost: none, delayBased: 5000)
        #expect(fixture.kilobits == 5000)
        fixture.feed(interval: 2, lost: none, delayBased: 5000)
        #expect(fixture.kilobits == 5000)
        fixture.feed(interval: 4, lost: none, delayBased: 500)
        #expect(fixture.kilobits == 500)
        #expect(fixture.estimator.state == .delayBased)
    }

    @Test("The maximum bounds the estimate")
    func maximum() {
        var fixture = Fixture(start: 1000)
        fixture.estimator.setBounds(minimum: .kilobitsPerSecond(10), maximum: .kilobitsPerSecond(1000))
        fixture.feed(interval: 0, lost: none)
        #expect(fixture.kilobits == 1000)
    }

    @Test("Repeated feedback, or less than an interval of new feedback, changes nothing")
    func unchanged() {
        var fixture = Fixture()
        fixture.feed(interval: 0, lost: none)
        let before = fixture.kilobits
        fixture.feed(interval: 0, lost: none)
        #expect(fixture.kilobits == before)
    }

    @Test("Total loss reduces the estimate to the acknowledged rate, or to the loss bound while application-limited")
    func allLost() throws {
        var fixture = Fixture()
        fixture.estimator.setBounds(minimum: .kilobitsPerSecond(10), maximum: .kilobitsPerSecond(1_000_000))
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(100))
        var limited = fixture
        fixture.feed(interval: 0, lost: all, delayBased: 5000)
        #expect(fixture.kilobits == 100)
        limited.feed(interval: 0, lost: all, delayBased: 5000, isApplicationLimited: true)
        let rate = try #require(limited.kilobits)
        #expect(rate > 100 && rate < 600)
    }

    @Test("Half and then total loss reduces the estimate to at most the acknowledged rate")
    func emergency() throws {
        var fixture = Fixture(windowSize: 15)
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(300))
        fixture.feed(interval: 0, lost: half)
        fixture.feed(interval: 2, lost: all)
        #expect(try #require(fixture.kilobits) <= 300)
    }

    @Test("The acknowledged rate is a lower bound of the estimate unless that is switched off", arguments: [1.0, 0.0])
    func lowerBound(factor: Double) throws {
        var fixture = Fixture(lowerBoundFactor: factor)
        fixture.estimator.setBounds(minimum: .kilobitsPerSecond(10), maximum: .kilobitsPerSecond(1_000_000))
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(500))
        fixture.feed(interval: 0, lost: all)
        #expect((fixture.kilobits == 500) == (factor == 1))
        #expect(try #require(fixture.kilobits) <= 500)
    }

    @Test("A tenth of loss gives the bound that balances the loss above 5 percent")
    func upperBound() throws {
        var fixture = Fixture(start: 500, candidateFactors: [1], upperBoundBalance: 10)
        fixture.estimator.setBounds(minimum: .kilobitsPerSecond(10), maximum: .kilobitsPerSecond(1_000_000))
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(100))
        fixture.feed(interval: 0, lost: tenth)
        #expect(abs(try #require(fixture.kilobits) - 200) < 0.01)
        #expect(fixture.estimator.state == .decreasing)
    }

    @Test("A rising lower bound changes the state to increasing")
    func increaseByLowerBound() {
        var fixture = Fixture(start: 500, candidateFactors: [1], lowerBoundFactor: 10)
        fixture.estimator.setBounds(minimum: .kilobitsPerSecond(10), maximum: .kilobitsPerSecond(1_000_000))
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(1))
        fixture.feed(interval: 0, lost: half)
        #expect(fixture.estimator.state == .decreasing)
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(200))
        fixture.feed(interval: 2, lost: half)
        #expect(fixture.kilobits == 2000)
        #expect(fixture.estimator.state == .increasing)
    }

    @Test("The first increase after a reduction and its hold is by a fifth")
    func holdFactor() throws {
        var fixture = Fixture()
        fixture.estimator.setAcknowledged(.kilobitsPerSecond(100))
        fixture.feed(interval: 0, lost: all, delayBased: 5000)
        let cut = try #require(fixture.kilobits)
        var interval = 2
        while fixture.estimator.state != .increasing, interval < 50 {
            fixture.feed(interval: interval, lost: none, delayBased: 5000)
            interval += 1
        }
        #expect(abs(try #require(fixture.kilobits) - cut * 1.2) < 0.01)
    }

    @Test("The hold ends when the delay-based estimate is the lower one")
    func holdEnds() throws {
        var fixture = Fixture(start: 2500)
        fixture.feed(interval: 0, lost: half)
        #expect(fixture.estimator.state == .decreasing)
        let delayBased = Int(try #require(fixture.kilobits)) + 10
        fixture.feed(interval: 1, lost: none, delayBased: delayBased)
        fixture.feed(interval: 2, lost: none, delayBased: delayBased)
        #expect(fixture.estimator.state == .delayBased)
        #expect(fixture.kilobits == Double(delayBased))
    }

    @Test("Loss is counted in bytes")
    func bytes() throws {
        var fixture = Fixture(start: 500)
        fixture.feed(interval: 0, lost: tenth, lostSize: 300_000)
        #expect(fixture.estimator.state == .decreasing)
        #expect(try #require(fixture.kilobits) < 160)
    }

    @Test("One interval with high loss is ignored, a second one is not")
    func spike() throws {
        var fixture = Fixture(start: 500, windowSize: 5, minimumObservations: 3)
        for interval in 0..<5 { fixture.feed(interval: interval, lost: none, delayBased: 500) }
        fixture.feed(interval: 5, lost: all, delayBased: 500)
        fixture.feed(interval: 6, lost: none, delayBased: 500)
        #expect(fixture.estimator.state == .delayBased)
        #expect(fixture.kilobits == 500)
        fixture.feed(interval: 7, lost: all, delayBased: 500)
        #expect(fixture.estimator.state == .decreasing)
        #expect(try #require(fixture.kilobits) < 500)
    }

    @Test("One interval with high loss counts when far more was sent in it than before")
    func burst() {
        var fixture = Fixture(start: 500, windowSize: 5, minimumObservations: 3)
        for interval in 0..<5 { fixture.feed(interval: interval, lost: none, delayBased: 500) }
        fixture.feed(interval: 5, lost: [Bool](repeating: true, count: 5), spacing: 10, delayBased: 500)
        #expect(fixture.estimator.state == .decreasing)
    }

    @Test("Packets reported as missing that arrive within the interval are not lost")
    func reordered() {
        var fixture = Fixture(start: 2500)
        func result(_ number: UInt16, sent: Int, isLost: Bool = false) -> Result {
            Result(
                number: TransportSequenceNumber(number), size: 15_000,
                sent: Instant(nanoseconds: Int64(sent) * 1_000_000), arrival: isLost ? nil : .milliseconds(sent + 10))
        }
        fixture.estimator.update(
            [result(1, sent: 0), result(2, sent: 0, isLost: true), result(3, sent: 0)],
            delayBased: .kilobitsPerSecond(2500), isApplicationLimited: false)
        fixture.estimator.update(
            [result(2, sent: 0), result(4, sent: 250), result(5, sent: 0)], delayBased: .kilobitsPerSecond(2500),
            isApplicationLimited: false)
        #expect(fixture.estimator.averageLoss == 0)
        #expect(fixture.kilobits == 2500)
    }

    @Test("A constant loss of 4 percent is attributed to the path and costs little rate")
    func inherentLoss() throws {
        var fixture = Fixture(start: 9000, windowSize: 15, minimumObservations: 3)
        let lost = [Bool](repeating: false, count: 24) + [true]
        for interval in 0..<60 {
            fixture.estimator.setAcknowledged(.kilobitsPerSecond(8600))
            fixture.feed(interval: interval, lost: lost, spacing: 10, delayBased: 9000)
        }
        #expect(try #require(fixture.kilobits) > 8500)
    }

    @Test("Without an acknowledged rate, half of loss reduces the estimate to a fifth or less")
    func heavyLoss() throws {
        var fixture = Fixture(start: 2000, windowSize: 15, minimumObservations: 3)
        for interval in 0..<20 { fixture.feed(interval: 2 * interval, lost: half, delayBased: 2000) }
        #expect(fixture.estimator.state == .decreasing)
        #expect(try #require(fixture.kilobits) < 400)
    }
}
