import CongestionControl
import Testing
import WireFormat

@Suite struct AcknowledgedBitrateEstimatorTests {
    /// Packets of 1250 bytes every so often: 10 kbit each.
    private struct Arrivals {
        var estimator = AcknowledgedBitrateEstimator()
        var time = Duration.zero

        mutating func receive(every milliseconds: Int, for total: Int) {
            for _ in 0..<total / milliseconds {
                time += .milliseconds(milliseconds)
                estimator.receive(
                    sent: Instant(nanoseconds: 0).advanced(by: time), arrival: time, size: 1250)
            }
        }
    }

    @Test("The first estimate takes half a second, and is what arrived in it")
    func first() {
        var arrivals = Arrivals()
        arrivals.receive(every: 10, for: 500)
        #expect(arrivals.estimator.estimate == nil)
        #expect(arrivals.estimator.currentRate != nil)
        arrivals.receive(every: 10, for: 10)
        #expect(arrivals.estimator.estimate == .kilobitsPerSecond(1000))
    }

    @Test("A rate that halves is followed within seconds, one that doubles slower at first")
    func follows() throws {
        var arrivals = Arrivals()
        arrivals.receive(every: 10, for: 3000)
        arrivals.receive(every: 20, for: 3000)
        let low = try #require(arrivals.estimator.estimate)
        #expect(low < .kilobitsPerSecond(600) && low >= .kilobitsPerSecond(490))
        arrivals.receive(every: 10, for: 3000)
        let high = try #require(arrivals.estimator.estimate)
        #expect(high > .kilobitsPerSecond(750) && high <= .kilobitsPerSecond(1010))
    }

    @Test("After an application-limited region the estimate follows faster, from packets sent after it on")
    func limitedRegion() throws {
        var slow = Arrivals()
        slow.receive(every: 50, for: 10_000)
        var fast = slow
        fast.estimator.limitedRegionEnded(at: Instant(nanoseconds: 0).advanced(by: fast.time))
        slow.receive(every: 10, for: 500)
        fast.receive(every: 10, for: 500)
        #expect(try #require(fast.estimator.estimate) > #require(slow.estimator.estimate))
    }

    @Test("Silence is no sample")
    func silence() {
        var arrivals = Arrivals()
        arrivals.receive(every: 10, for: 2000)
        let before = arrivals.estimator.estimate
        arrivals.time += .seconds(60)
        arrivals.receive(every: 10, for: 100)
        #expect(arrivals.estimator.estimate == before)
    }

    @Test("A packet from before the last one begins a new window")
    func backwards() {
        var arrivals = Arrivals()
        arrivals.receive(every: 10, for: 490)
        arrivals.time -= .seconds(10)
        arrivals.receive(every: 10, for: 490)
        #expect(arrivals.estimator.estimate == nil)
    }
}
