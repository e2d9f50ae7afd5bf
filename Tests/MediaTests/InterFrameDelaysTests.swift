import RTCShareMedia
import RTCShareWireFormat
import Testing

@Suite struct InterFrameDelaysTests {
    /// Returns the statistics of frames with these delays in milliseconds.
    private func shown(_ delays: [Int]) -> InterFrameDelays {
        var counted = InterFrameDelays()
        var now = Instant(nanoseconds: 0)
        counted.pictureWasShown(at: now)
        for delay in delays {
            now = now.advanced(by: .milliseconds(delay))
            counted.pictureWasShown(at: now)
        }
        return counted
    }

    private static let steady = [Int](repeating: 33, count: 30)

    @Test(
        "A gap of three times the mean, and of 150 ms more than that, is a freeze (webrtc-stats freezeCount)",
        arguments: [
            (steady, 0, 0), (steady + [182], 0, 0), (steady + [183], 1, 183), (steady + [400, 33, 500], 2, 900),
            ([Int](repeating: 200, count: 30) + [599], 0, 0), ([Int](repeating: 200, count: 30) + [600], 1, 600),
            // Four delays have no mean yet.
            ([33, 33, 33, 33, 900], 0, 0), ([33, 33, 33, 33, 33, 900], 1, 900),
        ])
    func countsFreezes(delays: [Int], count: Int, milliseconds: Int) {
        let counted = shown(delays)
        #expect(counted.freezeCount == count)
        #expect(counted.totalFreezesDuration == .milliseconds(milliseconds))
        #expect(counted.pauseCount == 0)
    }

    @Test("A gap of more than five seconds is a pause and does not change the mean")
    func countsPauses() {
        let counted = shown(Self.steady + [5001, 33, 5000, 200])
        #expect(counted.pauseCount == 1 && counted.totalPausesDuration == .milliseconds(5001))
        // 5000 ms are a freeze, and in the mean from then on: 200 ms are none.
        #expect(counted.freezeCount == 1 && counted.totalFreezesDuration == .seconds(5))
    }

    @Test("The mean is that of the last thirty delays")
    func meanMoves() {
        let slow = [Int](repeating: 150, count: 30)
        #expect(shown(Self.steady + slow + [449]).freezeCount == 0)
        #expect(shown(Self.steady + slow + [450]).freezeCount == 1)
        #expect(shown(slow + Self.steady + [183]).freezeCount == 1)
    }

    @Test("Delays and their squares are summed in seconds")
    func sums() {
        let counted = shown([100, 300])
        #expect(counted.total == .milliseconds(400))
        #expect(abs(counted.totalSquared - 0.1) < 1e-9)
    }
}
