import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `aimd_rate_control_unittest`.
@Suite struct AIMDRateControlTests {
    private let start = Instant(nanoseconds: 123_456_000_000)

    private func control(
        at bits: Int, holds: Bool = false
    ) -> AIMDRateControl {
        var control = AIMDRateControl(holdsWhileApplicationLimited: holds)
        control.setEstimate(.bitsPerSecond(bits), now: start)
        return control
    }

    /// Updates ten times a second for `seconds` from `start`.
    private func runNormal(
        _ control: inout AIMDRateControl, acknowledged: DataRate?, seconds: Int = 20
    ) {
        for index in 0..<seconds * 10 {
            control.update(
                usage: .normal, acknowledged: acknowledged, now: start.advanced(by: .milliseconds(100 * index)))
        }
    }

    @Test(
        "Near the capacity the estimate grows by a packet per response time, and at least by 4 kbit/s",
        arguments: [(30_000, 200, 4000), (90_000, 200, 5000), (60_000, 100, 5000)])
    func increaseRate(bits: Int, roundTrip: Int, expected: Int) {
        var control = control(at: bits)
        control.roundTripTime = .milliseconds(roundTrip)
        #expect(control.increasePerSecond == .bitsPerSecond(expected))
    }

    @Test("At 300 kbit/s the estimate grows by about 14 kbit/s per second")
    func increaseAtLowRate() {
        var control = control(at: 300_000)
        control.update(usage: .overusing, acknowledged: .bitsPerSecond(300_000), now: start)
        #expect(abs(control.increasePerSecond.bitsPerSecond - 14_000) <= 1000)
    }

    @Test("The estimate stops at 1.5 times the acknowledged rate, and a lower acknowledged rate does not reduce it")
    func limitedByAcknowledged() {
        var control = control(at: 10_000)
        runNormal(&control, acknowledged: .bitsPerSecond(10_000))
        #expect(control.isValid)
        #expect(control.estimate == .bitsPerSecond(25_000))
        control.update(usage: .normal, acknowledged: .bitsPerSecond(5000), now: start.advanced(by: .seconds(20)))
        #expect(control.estimate == .bitsPerSecond(25_000))
    }

    @Test(
        "Overuse reduces the estimate below the acknowledged rate, to no less than 5 kbit/s",
        arguments: [(264_000, 260_000, 216_000), (10_000, 9999, 5000), (10_010_000, 11_765, 5000)])
    func decrease(initial: Int, acknowledged: Int, expected: Int) {
        var control = control(at: initial)
        control.update(
            usage: .overusing, acknowledged: .bitsPerSecond(acknowledged), now: start.advanced(by: .milliseconds(100)))
        #expect(control.estimate == .bitsPerSecond(expected))
    }

    @Test("Without a start rate the estimate is the acknowledged rate after 5 s, and stays bounded")
    func initialization() {
        var control = AIMDRateControl()
        let rate = DataRate.bitsPerSecond(123_000)
        control.update(usage: .normal, acknowledged: rate, now: start)
        #expect(!control.isValid)
        let later = start.advanced(by: .milliseconds(5001))
        control.update(usage: .normal, acknowledged: rate, now: later)
        #expect(control.isValid)
        for index in 0..<100 {
            control.update(usage: .normal, acknowledged: nil, now: later.advanced(by: .milliseconds(100 * index)))
        }
        #expect(control.estimate <= .bitsPerSecond(194_500))
    }

    @Test(
        "While application-limited, a holding control does not grow by itself but accepts probe results",
        arguments: [
            true, false,
        ])
    func applicationLimited(isLimited: Bool) {
        var control = control(at: 123_000, holds: true)
        control.isApplicationLimited = isLimited
        control.update(usage: .normal, acknowledged: .bitsPerSecond(123_000), now: start)
        runNormal(&control, acknowledged: nil, seconds: 10)
        #expect((control.estimate == .bitsPerSecond(123_000)) == isLimited)
        control.setEstimate(.bitsPerSecond(246_000), now: start)
        #expect(control.estimate == .bitsPerSecond(246_000))
    }

    @Test("Overuse reduces the estimate to 85 percent of the acknowledged rate less 5 kbit/s, then holds, then grows")
    func overuseCycle() {
        var control = control(at: 1_000_000)
        control.update(usage: .overusing, acknowledged: .kilobitsPerSecond(900), now: start)
        #expect(control.estimate == .kilobitsPerSecond(760))
        control.update(usage: .underusing, acknowledged: .kilobitsPerSecond(900), now: start.advanced(by: .seconds(1)))
        #expect(control.estimate == .kilobitsPerSecond(760))
        control.update(usage: .normal, acknowledged: .kilobitsPerSecond(890), now: start.advanced(by: .seconds(2)))
        let step = control.increasePerSecond
        let held = control.estimate
        control.update(usage: .normal, acknowledged: .kilobitsPerSecond(890), now: start.advanced(by: .seconds(3)))
        #expect(control.estimate.bitsPerSecond - held.bitsPerSecond == step.bitsPerSecond)
    }

    @Test("The estimate grows by 8 percent per second until the capacity is known")
    func multiplicativeIncrease() {
        var control = control(at: 1_000_000)
        runNormal(&control, acknowledged: .kilobitsPerSecond(3000), seconds: 11)
        // 10.9 s of growth: 1.08 to that power is 2.31.
        #expect(control.estimate > .kilobitsPerSecond(2300) && control.estimate < .kilobitsPerSecond(2330))
    }

    @Test("The estimate does not fall below the minimum")
    func minimum() {
        var control = control(at: 100_000)
        control.setMinimum(.kilobitsPerSecond(50))
        control.update(usage: .overusing, acknowledged: .kilobitsPerSecond(10), now: start)
        #expect(control.estimate == .kilobitsPerSecond(50))
    }

    @Test("A second reduction waits for a round trip unless less than half arrives")
    func furtherReduction() {
        var control = control(at: 1_000_000)
        control.roundTripTime = .milliseconds(50)
        let soon = start.advanced(by: .milliseconds(49))
        #expect(!control.canReduceFurther(acknowledged: .kilobitsPerSecond(500), now: soon))
        #expect(control.canReduceFurther(acknowledged: .kilobitsPerSecond(499), now: soon))
        #expect(control.canReduceFurther(now: soon))
        #expect(
            control.canReduceFurther(acknowledged: .kilobitsPerSecond(900), now: start.advanced(by: .milliseconds(50))))
    }
}
