import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

/// The scenarios of libwebrtc's `send_side_bandwidth_estimation_unittest`, and the rules for reports and for feedback
/// that stays away.
@Suite struct SendSideEstimatorTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func time(_ milliseconds: Int) -> Instant { start.advanced(by: .milliseconds(milliseconds)) }

    private func estimator(start: Int, minimum: Int = 100, maximum: Int = 1500) -> SendSideEstimator {
        SendSideEstimator(
            start: .kilobitsPerSecond(start), minimum: .kilobitsPerSecond(minimum),
            maximum: .kilobitsPerSecond(maximum))
    }

    private func takes(
        _ estimator: inout SendSideEstimator, fractionLost: Double, packets: Int, now: Instant
    ) -> Bool {
        estimator.receive(LossSample(fractionLost: fractionLost, packets: packets), now: now)
    }

    @Test(
        "A higher bound is followed at once only in the first two seconds of reports",
        arguments: [true, false])
    func startPhase(isRemote: Bool) {
        var estimator = estimator(start: 200)
        _ = estimator.receive(LossSample(fractionLost: 0, packets: 1), now: start)
        func bound(_ kilobits: Int) {
            let rate = DataRate.kilobitsPerSecond(kilobits)
            if isRemote { estimator.setRemoteLimit(rate) } else { estimator.setDelayLimit(rate) }
        }
        bound(1000)
        estimator.update(waiting: .zero, now: start)
        #expect(estimator.target == .kilobitsPerSecond(1000))
        bound(1500)
        estimator.update(waiting: .zero, now: time(2001))
        #expect(estimator.target == .kilobitsPerSecond(1000))
    }

    @Test("One report reduces the rate once, by half of the lost fraction")
    func oneReport() {
        var estimator = estimator(start: 1000)
        #expect(takes(&estimator, fractionLost: 0.5, packets: 100, now: time(10_000)))
        estimator.setRoundTripTime(.milliseconds(50))
        estimator.update(waiting: .zero, now: time(11_000))
        #expect(estimator.target == .kilobitsPerSecond(750))
        #expect(estimator.fractionLost == 0.5 && estimator.isBoundByReports)
        estimator.update(waiting: .zero, now: time(12_000))
        #expect(estimator.target == .kilobitsPerSecond(750) && estimator.fractionLost == 0.5)
    }

    @Test("An acknowledged rate counts whatever the delay-based estimate was before")
    func measured() {
        var estimator = estimator(start: 300, minimum: 10, maximum: 10_000)
        estimator.setDelayLimit(.kilobitsPerSecond(350))
        estimator.update(waiting: .zero, now: start)
        #expect(estimator.target >= .kilobitsPerSecond(300) && estimator.target <= .kilobitsPerSecond(350))
        estimator.setMeasured(.kilobitsPerSecond(2500))
        #expect(estimator.target == .kilobitsPerSecond(2500))
    }

    @Test("Impossible loss values are clamped to none or all")
    func absurdLoss() {
        var estimator = estimator(start: 1000)
        #expect(takes(&estimator, fractionLost: -0.01, packets: 100, now: start))
        #expect(estimator.fractionLost == 0)
        #expect(takes(&estimator, fractionLost: 7, packets: .max, now: start))
        #expect(estimator.fractionLost == 1)
        #expect(!takes(&estimator, fractionLost: 0.5, packets: -1, now: start))
    }

    @Test("Twenty packets form a sample, however many reports cover them")
    func sample() {
        var estimator = estimator(start: 1000)
        #expect(!takes(&estimator, fractionLost: 0.2, packets: 10, now: start))
        #expect(!takes(&estimator, fractionLost: 0, packets: 9, now: start))
        #expect(estimator.fractionLost == 0)
        #expect(takes(&estimator, fractionLost: 1, packets: 1, now: start))
        #expect(abs(estimator.fractionLost - 0.15) < 1e-9)
    }

    @Test(
        "The rate grows by 8 percent per second up to 2 percent of loss, stays up to 10 percent, and falls above",
        arguments: [(0.02, 1081), (0.021, 1000), (0.1, 1000), (0.12, 940)])
    func lossSteps(loss: Double, expected: Int) {
        var estimator = estimator(start: 1000)
        _ = estimator.receive(LossSample(fractionLost: 1, packets: 20), now: start)
        _ = estimator.receive(LossSample(fractionLost: 0, packets: 10_000), now: start)
        // The first seconds are over, and the first loss is met.
        for step in 0...40 {
            let now = time(3000 + 25 * step)
            if step == 0 { _ = estimator.receive(LossSample(fractionLost: loss, packets: 100), now: now) }
            estimator.update(waiting: .zero, now: now)
        }
        #expect(estimator.target == .kilobitsPerSecond(expected))
    }

    @Test(
        "With reports only, the rate grows by half per second until the first loss or queue, then by 8 percent",
        arguments: [true, false])
    func growth(byLoss: Bool) {
        var estimator = estimator(start: 200)
        func wait(from begin: Int, loss: Double, roundTrip: Int) -> Double {
            let before = estimator.target.bitsPerSecond
            estimator.setRoundTripTime(.milliseconds(roundTrip))
            _ = estimator.receive(LossSample(fractionLost: loss, packets: 100), now: time(begin))
            for step in 0...40 { estimator.update(waiting: .zero, now: time(begin + 25 * step)) }
            return Double(estimator.target.bitsPerSecond) / Double(before)
        }
        #expect(abs(wait(from: 3000, loss: 0.02, roundTrip: 100) - 1.5) < 0.02)
        #expect(abs(wait(from: 4025, loss: 0, roundTrip: 150) - 1.5) < 0.02)
        _ = wait(from: 5050, loss: byLoss ? 0.021 : 0, roundTrip: byLoss ? 100 : 151)
        #expect(abs(wait(from: 6075, loss: 0, roundTrip: 100) - 1.08) < 0.02)
        #expect(abs(wait(from: 7100, loss: 0, roundTrip: 100) - 1.08) < 0.02)
    }

    @Test(
        "A rare report of much loss lowers the rate to what arrived, unless the application limited it",
        arguments: [(800, 600), (500, 375), (499, 875), (2000, 1000)])
    func rareReport(sent: Int, expected: Int) {
        var estimator = estimator(start: 1000)
        var sample = LossSample(fractionLost: 0.25, packets: 100)
        sample.sentRate = .kilobitsPerSecond(sent)
        _ = estimator.receive(sample, now: time(3000))
        estimator.update(waiting: .zero, now: time(3000))
        #expect(estimator.target == .kilobitsPerSecond(expected))
    }

    @Test("Reductions due to reports are a round trip plus 0.3 s apart")
    func cutInterval() {
        var estimator = estimator(start: 1000)
        estimator.setRoundTripTime(.milliseconds(100))
        for (milliseconds, expected) in [(3000, 900), (3399, 900), (3400, 810)] {
            _ = estimator.receive(LossSample(fractionLost: 0.2, packets: 100), now: time(milliseconds))
            estimator.update(waiting: .zero, now: time(milliseconds))
            #expect(estimator.target == .kilobitsPerSecond(expected))
        }
    }

    @Test("Reports older than 6 s are ignored")
    func oldReports() {
        var estimator = estimator(start: 1000)
        _ = estimator.receive(LossSample(fractionLost: 0, packets: 100), now: start)
        estimator.update(waiting: .zero, now: time(5999))
        let grown = estimator.target
        #expect(grown > .kilobitsPerSecond(1000))
        estimator.update(waiting: .zero, now: time(6000))
        #expect(estimator.target == grown)
    }

    @Test("Missing feedback for more than 3 s reduces the rate by a fifth per second, down to the minimum")
    func backoff() {
        var estimator = estimator(start: 1000)
        estimator.update(waiting: .seconds(3), now: start)
        #expect(!estimator.isBackingOff && estimator.target == .kilobitsPerSecond(1000))
        var rates: [Int64] = []
        for step in 0...8 {
            estimator.update(waiting: .milliseconds(3001), now: time(500 * step))
            rates.append(estimator.target.bitsPerSecond / 1000)
        }
        #expect(rates == [800, 800, 640, 640, 512, 512, 409, 409, 327])
        #expect(estimator.isBackingOff)
        for step in 1...40 { estimator.update(waiting: .seconds(9), now: time(10_000 + 1000 * step)) }
        #expect(estimator.target == .kilobitsPerSecond(100))
        estimator.update(waiting: .zero, now: time(60_000))
        #expect(!estimator.isBackingOff)
    }

    @Test("The rate never exceeds its bounds, and new bounds apply at once")
    func bounds() {
        var estimator = estimator(start: 5000, minimum: 100, maximum: 1500)
        #expect(estimator.target == .kilobitsPerSecond(1500))
        estimator.setBounds(minimum: .kilobitsPerSecond(100), maximum: .kilobitsPerSecond(800))
        #expect(estimator.target == .kilobitsPerSecond(800))
        estimator.setDelayLimit(.kilobitsPerSecond(50))
        #expect(estimator.target == .kilobitsPerSecond(100))
        estimator.setBounds(minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(800))
        #expect(estimator.target >= .kilobitsPerSecond(30))
    }
}
