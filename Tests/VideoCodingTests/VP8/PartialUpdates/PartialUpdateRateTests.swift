import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("PartialUpdateRate")
struct PartialUpdateRateTests {
    private static func ledger(_ bytesPerSecond: Double) -> BitLedger {
        var ledger = BitLedger()
        ledger.setRates(.bitsPerSecond(Int(bytesPerSecond * 8)), burst: .zero, now: .zero)
        return ledger
    }

    /// Returns the bytes per second, and the quantizer steps, of 30 frames per second with one to three new lines each.
    private func run(
        _ rate: inout PartialUpdateRate, seconds: Int, bytesPerSecond: Double, difficulty: Double, seed: UInt64
    ) -> (bytes: [Int], steps: [Int32]) {
        var numbers = SeededNumbers(seed)
        var ledger = Self.ledger(bytesPerSecond)
        var (bytes, steps) = ([Int](repeating: 0, count: seconds), [Int32]())
        for index in 0..<seconds * 30 {
            let time = Duration.seconds(index) / 30
            let novelty = Int.random(in: 1...3, using: &numbers) * 500_000
            ledger.pass(to: time)
            let allowance = rate.allowance(novelty: novelty, from: ledger, timestamp: time)
            let quantizer = rate.quantizer(novelty: novelty, byteCount: allowance, within: 8...127)
            // Texts differ by a fifth.
            let factor = difficulty * Double.random(in: 0.8...1.2, using: &numbers)
            let byteCount = Int(
                Double(rate.byteCount(novelty: novelty, quantizer: quantizer)) * factor / rate.factor)
            rate.record(byteCount: byteCount, novelty: novelty, quantizer: quantizer)
            ledger.spend(byteCount: byteCount, isChange: true)
            bytes[index / 30] += byteCount
            steps.append(quantizer.lumaAC)
        }
        return (bytes, steps)
    }

    @Test(
        "Scrolling uses most of the bitrate, however hard its text is to encode", arguments: [0.15, 0.35, 0.8],
        [100_000.0, 300_000, 800_000])
    func share(difficulty: Double, bytesPerSecond: Double) {
        var rate = PartialUpdateRate()
        let (bytes, steps) = run(
            &rate, seconds: 10, bytesPerSecond: bytesPerSecond, difficulty: difficulty, seed: 3)
        for (second, bytes) in bytes.enumerated().dropFirst() {
            // As coarse as can be is as little as there is, as fine as can be as much as is of use.
            let used = steps[second * 30..<second * 30 + 30]
            let (finest, coarsest) = (Quantizer(index: 8).lumaAC, Quantizer(index: 127).lumaAC)
            #expect(Double(bytes) <= bytesPerSecond * 1.1 || used.contains(coarsest), "\(second): \(bytes)")
            #expect(Double(bytes) >= bytesPerSecond * 0.7 || used.contains(finest), "\(second): \(bytes)")
        }
    }

    @Test("A single move gets more bits than each frame of continued motion")
    func once() {
        var rate = PartialUpdateRate()
        var ledger = Self.ledger(300_000)
        ledger.pass(to: .seconds(1))
        let first = rate.allowance(novelty: 100_000, from: ledger, timestamp: .seconds(1))
        ledger.spend(byteCount: first, isChange: true)
        var next = first
        for index in 1...30 {
            let time = Duration.seconds(1) + Duration.seconds(index) / 30
            ledger.pass(to: time)
            next = rate.allowance(novelty: 100_000, from: ledger, timestamp: time)
            ledger.spend(byteCount: next, isChange: true)
        }
        #expect(first > next * 2)
        ledger.pass(to: .seconds(10))
        let later = rate.allowance(novelty: 100_000, from: ledger, timestamp: .seconds(10))
        #expect(later > next * 2)
    }

    @Test("A change after a rest is judged independently of earlier motion")
    func rest() {
        var rate = PartialUpdateRate()
        var ledger = Self.ledger(300_000)
        for index in 0..<30 {
            let time = Duration.seconds(index) / 30
            ledger.pass(to: time)
            ledger.spend(
                byteCount: rate.allowance(novelty: 10_000, from: ledger, timestamp: time), isChange: true)
        }
        ledger.pass(to: .seconds(10))
        var fresh = PartialUpdateRate()
        let large = 1_000_000
        #expect(
            rate.allowance(novelty: large, from: ledger, timestamp: .seconds(10))
                == fresh.allowance(novelty: large, from: ledger, timestamp: .seconds(10)))
    }

    @Test("The quantizer is the finest that fits the byte budget, within bounds")
    func quantizer() {
        let rate = PartialUpdateRate()
        for byteCount in [500, 3000, 20_000] {
            let quantizer = rate.quantizer(novelty: 400_000, byteCount: byteCount, within: 8...127)
            #expect(rate.byteCount(novelty: 400_000, quantizer: quantizer) <= byteCount || quantizer.index == 127)
            if quantizer.index > 8 {
                let finer = Quantizer(index: quantizer.index - 1)
                #expect(rate.byteCount(novelty: 400_000, quantizer: finer) >= byteCount)
            }
        }
        #expect(rate.quantizer(novelty: 0, byteCount: 1, within: 8...127).index == 8)
        #expect(rate.quantizer(novelty: 1_000_000_000, byteCount: 1, within: 8...100).index == 100)
    }
}
