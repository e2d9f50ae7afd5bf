import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `probe_controller_unittest`, with its rates: 100 bit/s at least, 300 at the start,
/// 10 kbit/s at most.
@Suite struct ProbeControllerTests {
    private struct Fixture {
        var controller: ProbeController
        var now = Instant(nanoseconds: 100_000_000_000)

        init(isAvailable: Bool = true, probesLimitedRegions: Bool = false, repeatsInitialProbes: Bool = false) {
            controller = ProbeController(
                probesLimitedRegions: probesLimitedRegions, repeatsInitialProbes: repeatsInitialProbes)
            if isAvailable { _ = controller.setNetworkAvailable(true, now: now) }
        }

        /// The rates probed for.
        mutating func setBounds(minimum: Int = 100, start: Int? = 300, maximum: Int = 10_000) -> [Int64] {
            rates(
                controller.setBounds(
                    minimum: .bitsPerSecond(minimum), start: start.map { .bitsPerSecond($0) },
                    maximum: .bitsPerSecond(maximum), now: now))
        }

        mutating func setEstimate(_ bits: Int, limit: ProbeController.Limit = .delay) -> [Int64] {
            rates(controller.setEstimate(.bitsPerSecond(bits), limit: limit, now: now))
        }

        mutating func setAllocation(_ bits: Int?) -> [Int64] {
            rates(controller.setAllocation(bits.map { .bitsPerSecond($0) }, now: now))
        }

        mutating func process(after milliseconds: Int) -> [Int64] {
            now = now.advanced(by: .milliseconds(milliseconds))
            return rates(controller.process(now: now))
        }

        mutating func requestRecovery(after milliseconds: Int = 0) -> [Int64] {
            now = now.advanced(by: .milliseconds(milliseconds))
            return rates(controller.requestRecoveryProbe(now: now))
        }

        /// Begins, and lets the time for results of the first probes pass.
        mutating func finishInitialProbes(estimate: Int, limit: ProbeController.Limit = .delay) {
            #expect(setBounds() == [900, 1800])
            #expect(setEstimate(estimate, limit: limit) == [])
            #expect(process(after: 5000) == [])
        }

        private func rates(_ clusters: [ProbeCluster]) -> [Int64] { clusters.map(\.rate.bitsPerSecond) }
    }

    @Test("Three and six times the start rate are probed once bounds are set and the network is available")
    func initialProbes() {
        var fixture = Fixture(isAvailable: false)
        #expect(fixture.setBounds() == [])
        let clusters = fixture.controller.setNetworkAvailable(true, now: fixture.now)
        #expect(clusters.map(\.rate.bitsPerSecond) == [900, 1800])
        #expect(clusters.map(\.identifier) == [1, 2])
        #expect(clusters.allSatisfy { $0.duration == .milliseconds(15) && $0.minimumPackets == 5 })

        fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
    }

    @Test("Nothing is probed without a network, nor after a reset without one")
    func noNetwork() {
        var fixture = Fixture(isAvailable: false, probesLimitedRegions: true)
        _ = fixture.controller.setNetworkAvailable(false, now: fixture.now)
        #expect(fixture.setBounds() == [])
        #expect(fixture.process(after: 10_000) == [])
        fixture.controller.reset(now: fixture.now)
        #expect(fixture.setBounds(minimum: 200, start: 600, maximum: 20_000) == [])
        #expect(fixture.process(after: 10_000) == [])
    }

    @Test("The minimum serves as a missing start rate; without either nothing is probed")
    func startRate() {
        var fixture = Fixture()
        #expect(fixture.setBounds(minimum: 0, start: nil) == [])
        #expect(fixture.setBounds(minimum: 100, start: nil) == [300, 600])
    }

    @Test("A higher maximum is probed from the start rate and from the old maximum", arguments: [300, 10_000])
    func higherMaximum(estimate: Int) {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 300)
        #expect(fixture.setEstimate(estimate) == [])
        #expect(fixture.setBounds(start: nil, maximum: 10_100) == [10_100])
    }

    @Test("A higher allocation is probed only while the application is the limit")
    func allocation() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        _ = fixture.setEstimate(9999)
        #expect(fixture.process(after: 5000) == [])
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setAllocation(10_001) == [10_000, 10_000])
        fixture.controller.limitedRegionStart = nil
        #expect(fixture.setAllocation(10_002) == [])
    }

    @Test("The allocation is probed up to twice the estimate, then further")
    func allocationBounded() {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 300)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setAllocation(10_000) == [600])
        #expect(fixture.setEstimate(450) == [900])
    }

    @Test("Further probes follow results above 0.7 of the last probe for up to a second")
    func furtherProbes() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setEstimate(1000) == [])
        #expect(fixture.setEstimate(1800) == [3600])

        fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.process(after: 5000) == [])
        #expect(fixture.setEstimate(1800) == [])
    }

    @Test("Further probes are limited to the maximum, which is the last one probed")
    func furtherProbesCapped() {
        var fixture = Fixture()
        #expect(fixture.setBounds(start: 10_000_000, maximum: 100_000_000) == [30_000_000, 60_000_000])
        #expect(fixture.setEstimate(60_000_000) == [100_000_000])
        #expect(fixture.setEstimate(100_000_000) == [])
    }

    @Test("Further probes are limited to twice the allocation")
    func furtherProbesAllocated() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setAllocation(300) == [])
        #expect(fixture.setEstimate(1800) == [600])
    }

    @Test("Longer probes repeat each second of the first five before media is sent")
    func repeatedInitial() {
        var fixture = Fixture(repeatsInitialProbes: true)
        #expect(fixture.setBounds() == [900, 1800])
        var probed: [Int] = []
        for step in 1...60 where !fixture.process(after: 100).isEmpty { probed.append(step * 100) }
        #expect(probed == [1100, 2200, 3300, 4400])

        fixture = Fixture(repeatsInitialProbes: true)
        #expect(fixture.setBounds() == [900, 1800])
        fixture.now = fixture.now.advanced(by: .milliseconds(1100))
        let clusters = fixture.controller.process(now: fixture.now)
        #expect(clusters.map(\.duration) == [.milliseconds(100)])
        #expect(clusters.map(\.burstInterval) == [.milliseconds(20)])
        #expect(fixture.setAllocation(100) == [])
        #expect(fixture.process(after: 1100) == [])
    }

    @Test("A drop while application-limited is answered with a probe of 0.85 times the previous estimate")
    func recovery() {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setEstimate(250) == [])
        #expect(fixture.requestRecovery() == [425])
        #expect(fixture.requestRecovery(after: 1) == [])
    }

    @Test("A drop is also probed less than 3 s after a region", arguments: [(2999, [Int64(425)]), (3001, [])])
    func recoveryAfterRegion(delay: Int, expected: [Int64]) {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        #expect(fixture.setEstimate(250) == [])
        fixture.controller.limitedRegionEnd = fixture.now
        #expect(fixture.requestRecovery(after: delay) == expected)
    }

    @Test("A drop is not probed more than 5 s later, nor when the estimate has nearly recovered")
    func noRecovery() {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setEstimate(250) == [])
        #expect(fixture.requestRecovery(after: 5001) == [])

        fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setEstimate(250) == [])
        #expect(fixture.setEstimate(410) == [])
        #expect(fixture.requestRecovery() == [])
    }

    @Test("Twice the estimate is probed every 5 s of an application-limited region")
    func periodic() {
        var fixture = Fixture(probesLimitedRegions: true)
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setEstimate(500) == [])
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.process(after: 5000) == [1000])
        #expect(fixture.setEstimate(500) == [])
        #expect(fixture.process(after: 4000) == [])
        #expect(fixture.process(after: 1000) == [1000])
        #expect(fixture.setEstimate(500) == [])
    }

    @Test("After a reset nothing is probed until bounds are set; then the start rate is the estimate")
    func periodicAfterReset() {
        var fixture = Fixture(probesLimitedRegions: true)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setBounds() == [900, 1800])
        fixture.controller.reset(now: fixture.now)
        #expect(fixture.process(after: 10_000) == [])
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.process(after: 10_000) == [600])
    }

    @Test("Periodic probes are limited to twice the allocation if there is one")
    func periodicAllocated() {
        var fixture = Fixture(probesLimitedRegions: true)
        #expect(fixture.setBounds(start: 10_000_000, maximum: 100_000_000) == [30_000_000, 60_000_000])
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setEstimate(10_000_000) == [])
        #expect(fixture.setAllocation(9_000_000) == [])
        #expect(fixture.process(after: 5000) == [18_000_000])
        #expect(fixture.setAllocation(nil) == [])
        #expect(fixture.process(after: 5000) == [20_000_000])
    }

    @Test("During recovery from loss 1.5 times the estimate is probed, and higher rates afterwards")
    func lossRecovering() {
        var fixture = Fixture(probesLimitedRegions: true)
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setEstimate(500) == [])
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.process(after: 5000) == [1000])
        #expect(fixture.setEstimate(500, limit: .lossRecovering) == [])
        #expect(fixture.process(after: 6000) == [750])
        #expect(fixture.setEstimate(750) == [])
        #expect(fixture.process(after: 6000) == [1500])
    }

    @Test(
        "Nothing is probed while loss, growing delay or the round-trip time is the limit",
        arguments: [ProbeController.Limit.loss, .growingDelay, .roundTrip])
    func limited(limit: ProbeController.Limit) {
        var fixture = Fixture(probesLimitedRegions: true)
        fixture.finishInitialProbes(estimate: 300, limit: limit)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.process(after: 5001) == [])

        fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setEstimate(1800, limit: limit) == [])
    }

    @Test("Recovery from loss outside an application-limited region triggers no probe")
    func lossOutsideRegion() {
        var fixture = Fixture(probesLimitedRegions: true)
        fixture.finishInitialProbes(estimate: 300, limit: .lossRecovering)
        #expect(fixture.process(after: 5001) == [])
    }

    @Test("The wait for a probe's result ends when the network becomes unavailable")
    func networkGoes() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.controller.setNetworkAvailable(false, now: fixture.now) == [])
        #expect(fixture.setEstimate(1800) == [])
    }
}
