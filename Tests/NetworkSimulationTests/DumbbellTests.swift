import RTCShareNetworkSimulation
import RTCShareWireFormat
import Testing

@Suite struct DumbbellTests {
    /// Whether each of many packets vanishes.
    private func losses(_ share: Double, burst: Double) -> [Bool] {
        let wide = Bottleneck(capacity: CapacityTrace(constant: .kilobitsPerSecond(1_000_000)))
        var network = Dumbbell<Int>(
            forward: wide, backward: wide,
            paths: [.init(delay: .milliseconds(1), forwardLoss: share, backwardLoss: share, lossBurst: burst)], seed: 7)
        return (0..<40_000).map { number in
            let fate = network.send(
                number, size: 100, flow: 0, .forward, now: Instant(nanoseconds: Int64(number) * 1_000_000))
            if case .lost = fate { return true }
            return false
        }
    }

    @Test("Loss in bursts has the same rate as without, and runs of the requested length", arguments: [1.0, 4, 8])
    func bursts(length: Double) {
        let losses = losses(0.05, burst: length)
        let lost = losses.count { $0 }
        #expect((0.04...0.06).contains(Double(lost) / Double(losses.count)))
        let runs = zip([false] + losses, losses).count { !$0 && $1 }
        // Without bursts, two losses in a row only occur by chance.
        #expect(abs(Double(lost) / Double(runs) - length) < 0.15 * length + 0.1)
    }

    @Test("A loss of 100% delivers nothing, with and without bursts", arguments: [1.0, 4])
    func everything(length: Double) {
        #expect(losses(1, burst: length).allSatisfy { $0 })
    }
}
