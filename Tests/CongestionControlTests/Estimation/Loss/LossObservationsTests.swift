import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

@Suite struct LossObservationsTests {
    /// Intervals of 25 packets of 12,000 bytes each, 9600 kbit/s, the first `lost` of which are missing.
    private func observations(lost: Int, intervals: Int = 10) -> LossObservations {
        var observations = LossObservations(windowSize: 15)
        var number: UInt16 = 0
        for interval in 0..<intervals {
            let results = (0..<25).map { index in
                defer { number += 1 }
                return TransportFeedbackTracker.PacketResult(
                    number: TransportSequenceNumber(number), size: 12_000,
                    sent: Instant(nanoseconds: Int64(interval * 250 + (index + 1) * 10) * 1_000_000),
                    arrival: index < lost ? nil : .milliseconds(interval * 250 + index * 10))
            }
            _ = observations.append(results)
        }
        return observations
    }

    @Test("Newton's method finds the path's inherent loss within the feasible range")
    func inherentLoss() {
        let observations = observations(lost: 1)
        #expect(abs(observations.averageLoss - 0.04) < 0.001)
        var path = LossObservations.Path(bandwidth: 10_000, inherentLoss: 0.01)
        for _ in 0..<30 { path = observations.fitted(path) }
        #expect(abs(path.inherentLoss - 0.04) < 0.001)
        path.bandwidth = 100_000
        var lossy = self.observations(lost: 10)
        for _ in 0..<30 { path = lossy.fitted(path) }
        // 5 percent, and 100 kbit/s by the bandwidth.
        #expect(abs(path.inherentLoss - 0.051) < 1e-9)
        lossy = self.observations(lost: 0)
        for _ in 0..<30 { path = lossy.fitted(path) }
        #expect(path.inherentLoss == 0.001)
    }

    @Test("Higher rates are preferred at low loss, lower rates above a fifth")
    func preference() {
        func prefersHigher(lost: Int) -> Bool {
            let observations = observations(lost: lost)
            // Both are above what is sent, so that only the preference tells them apart.
            return observations.objective(.init(bandwidth: 12_000, inherentLoss: 0.05))
                > observations.objective(.init(bandwidth: 11_000, inherentLoss: 0.05))
        }
        #expect(prefersHigher(lost: 0) && prefersHigher(lost: 4))
        #expect(!prefersHigher(lost: 6) && !prefersHigher(lost: 20))
    }

    @Test("A path with the acknowledged rate as its bandwidth explains loss better than an unlimited path")
    func explanation() {
        let observations = observations(lost: 8)
        // A third is lost: a path of two thirds of the rate explains it better than one that takes all.
        let narrow = LossObservations.Path(bandwidth: 6500, inherentLoss: 0.001)
        let wide = LossObservations.Path(bandwidth: 9600, inherentLoss: 0.001)
        #expect(observations.objective(narrow) > observations.objective(wide))
    }
}
