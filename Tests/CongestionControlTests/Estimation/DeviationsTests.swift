import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareCongestionControl

/// Each deviation from libwebrtc does what it is for, and without it what libwebrtc does is done.
@Suite struct DeviationsTests {
    private func flow(
        _ deviation: Deviations, isOn: Bool, kilobits: Int = 3000, maximum: Int = 6000, loss: Double = 0
    ) -> ControlledFlow {
        var configuration = BandwidthEstimator.Configuration()
        configuration.maximum = .kilobitsPerSecond(maximum)
        configuration.deviations = isOn ? .all : .all.subtracting(deviation)
        return ControlledFlow(
            LinkConditions(loss: loss, delay: .milliseconds(25), rate: .kilobitsPerSecond(kilobits)),
            configuration: configuration)
    }

    @Test("Each name switches one deviation off, all switches all off, and an unknown name is rejected")
    func names() {
        #expect(Deviations(without: []) == .all)
        #expect(Deviations(without: ["all"]) == [])
        #expect(Deviations(without: ["window", "strange"]) == nil)
        var rest = Deviations.all
        for (name, deviation) in Deviations.named {
            #expect(rest.contains(deviation) && !deviation.isEmpty)
            rest.subtract(deviation)
            #expect(Deviations(without: [name]) == Deviations.all.subtracting(deviation))
        }
        #expect(rest.isEmpty)
    }

    @Test("A drop of the capacity fills the congestion window, which reduces the target", arguments: [true, false])
    func window(isOn: Bool) {
        var flow = flow(.window, isOn: isOn)
        flow.run(.seconds(8))
        flow.forward.conditions.rate = .kilobitsPerSecond(750)
        var isLimited = false
        var isPacedAtTarget = false
        for _ in 0..<200 {
            flow.run(.milliseconds(10))
            isLimited = isLimited || flow.estimator.limitation == .window
            isPacedAtTarget = isPacedAtTarget || flow.estimator.pacingRate == flow.estimator.target
        }
        #expect(isLimited == isOn)
        #expect(isPacedAtTarget == isOn)
    }

    @Test("Large frames are sent at the rate at which earlier ones arrived", arguments: [true, false])
    func burstRate(isOn: Bool) {
        var flow = flow(.burstRate, isOn: isOn, kilobits: 100_000, maximum: 2500)
        flow.run(.seconds(8))
        flow.isSending = false
        flow.step = .microseconds(200)
        for _ in 0..<4 {
            flow.produce(picture: 120_000)
            flow.run(.seconds(1.5))
        }
        let usual = flow.estimator.target * BandwidthEstimator.pacingFactor
        #expect(isOn ? flow.estimator.pacingRate > usual * 2 : flow.estimator.pacingRate == usual)
    }

    @Test("Loss without a queue is attributed to the path", arguments: [true, false])
    func backgroundLoss(isOn: Bool) {
        var flow = flow(.backgroundLoss, isOn: isOn, loss: 0.1)
        flow.run(.seconds(20))
        #expect((flow.estimator.background.share > 0.05) == isOn)
    }

    @Test("With reports only, the rate grows faster until the first loss", arguments: [true, false])
    func reportGrowth(isOn: Bool) {
        var estimator = SendSideEstimator(
            start: .kilobitsPerSecond(300), minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(6000),
            deviations: isOn ? .all : .all.subtracting(.reportGrowth))
        let start = Instant(nanoseconds: 1_000_000_000)
        for step in 0...120 {
            let now = start.advanced(by: .milliseconds(25 * step))
            if step % 40 == 0 { _ = estimator.receive(LossSample(fractionLost: 0, packets: 100), now: now) }
            estimator.update(waiting: .zero, now: now)
        }
        #expect((estimator.target > .kilobitsPerSecond(600)) == isOn)
    }
}
