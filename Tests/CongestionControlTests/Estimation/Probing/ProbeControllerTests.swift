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

    @Test("Three and six times the start rate are probed once bounds and network are there")
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

    @Test("Nothing is probed without a network, nor again after a reset without one")
    func noNetwork() {
        var fixture = Fixture(isAvailable: false, probesLimitedRegions: true)
        _ = fixture.controller.setNetworkAvailable(false, now: fixture.now)
        #expect(fixture.setBounds() == [])
        #expect(fixture.process(after: 10_000) == [])
        fixture.controller.reset(now: fixture.now)
        #expect(fixture.setBounds(minimum: 200, start: 600, maximum: 20_000) == [])
        #expect(fixture.process(after: 10_000) == [])
    }

    @Test("Without a start rate the minimum is one; without either nothing is probed")
    func startRate() {
        var fixture = Fixture()
        #expect(fixture.setBounds(minimum: 0, start: nil) == [])
        #expect(fixture.setBounds(minimum: 100, start: nil) == [300, 600])
    }

    @Test("A higher maximum is probed, from the start rate and from the old maximum", arguments: [300, 10_000])
    func higherMaximum(estimate: Int) {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 300)
        #expect(fixture.setEstimate(estimate) == [])
        #expect(fixture.setBounds(start: nil, maximum: 10_100) == [10_100])
    }

    @Test("More allocation is probed while the application is the limit, and only then")
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

    @Test("Allocation is probed up to twice the estimate, then further")
    func allocationBounded() {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 300)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setAllocation(10_000) == [600])
        #expect(fixture.setEstimate(450) == [900])
    }

    @Test("Further probes follow results above 0.7 of the last probe, until a second is over")
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

    @Test("Further probes are capped by the maximum, which is the last one")
    func furtherProbesCapped() {
        var fixture = Fixture()
        #expect(fixture.setBounds(start: 10_000_000, maximum: 100_000_000) == [30_000_000, 60_000_000])
        #expect(fixture.setEstimate(60_000_000) == [100_000_000])
        #expect(fixture.setEstimate(100_000_000) == [])
    }

    @Test("Further probes are capped by twice the allocation")
    func furtherProbesAllocated() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.setAllocation(300) == [])
        #expect(fixture.setEstimate(1800) == [600])
    }

    @Test("Probes repeat each second of the first five before media flow, longer ones")
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

    @Test("A drop within an application-limited region is answered by 0.85 of what was before")
    func recovery() {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setEstimate(250) == [])
        #expect(fixture.requestRecovery() == [425])
        #expect(fixture.requestRecovery(after: 1) == [])
    }

    @Test("Also less than 3 s after such a region, not later", arguments: [(2999, [Int64(425)]), (3001, [])])
    func recoveryAfterRegion(delay: Int, expected: [Int64]) {
        var fixture = Fixture()
        fixture.finishInitialProbes(estimate: 500)
        #expect(fixture.setEstimate(250) == [])
        fixture.controller.limitedRegionEnd = fixture.now
        #expect(fixture.requestRecovery(after: delay) == expected)
    }

    @Test("Not when the drop was over 5 s ago, nor when the estimate is nearly back")
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

    @Test("After a reset nothing is probed before there are bounds; then the start rate is the estimate")
    func periodicAfterReset() {
        var fixture = Fixture(probesLimitedRegions: true)
        fixture.controller.limitedRegionStart = fixture.now
        #expect(fixture.setBounds() == [900, 1800])
        fixture.controller.reset(now: fixture.now)
        #expect(fixture.process(after: 10_000) == [])
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.process(after: 10_000) == [600])
    }

    @Test("Periodic probes are capped by twice the allocation while there is one")
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

    @Test("While it recovers from loss, 1.5 times the estimate is probed; afterwards more again")
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
        "Nothing is probed while loss, growing delay or the round trip is the limit",
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

    @Test("Recovery from loss outside an application-limited region is no reason to probe")
    func lossOutsideRegion() {
        var fixture = Fixture(probesLimitedRegions: true)
        fixture.finishInitialProbes(estimate: 300, limit: .lossRecovering)
        #expect(fixture.process(after: 5001) == [])
    }

    @Test("A network that goes while a result is awaited ends the waiting")
    func networkGoes() {
        var fixture = Fixture()
        #expect(fixture.setBounds() == [900, 1800])
        #expect(fixture.controller.setNetworkAvailable(false, now: fixture.now) == [])
        #expect(fixture.setEstimate(1800) == [])
    }
}
