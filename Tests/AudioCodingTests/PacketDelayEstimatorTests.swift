import Testing

@testable import RTCShareAudioCoding

@Suite struct PacketDelayEstimatorTests {
    /// Packets of 20 ms, of which one in `rarity` comes 50 ms late.
    private func jitter(oneLateIn rarity: Int) -> Int64 {
        var estimator = PacketDelayEstimator()
        for number in 0..<1000 {
            let isLate = number % rarity == rarity - 1
            estimator.note(delay: 10_000 + (isLate ? 2400 : 0), now: Int64(number) * 960)
        }
        return estimator.jitter
    }

    @Test("The delay covers packets late one time in ten, but not one time in a hundred")
    func covered() {
        #expect(jitter(oneLateIn: 10) >= 2400)
        #expect(jitter(oneLateIn: 100) < 960)
    }
}
