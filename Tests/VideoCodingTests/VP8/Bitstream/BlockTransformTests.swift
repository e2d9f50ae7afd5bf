import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("BlockTransform")
struct BlockTransformTests {
    @Test("The transform and its inverse reproduce the samples when nothing is quantized")
    func transforms() {
        var numbers = SeededNumbers(5)
        let lanes = BlockTransform.laneCount
        var coefficients = [BlockTransform.Floats](repeating: .zero, count: 16)
        for _ in 0..<100 {
            let differences = (0..<16 * lanes).map { _ in Int16.random(in: -255...255, using: &numbers) }
            for group in 0..<3 {
                var values = [Int16](repeating: 0, count: 16 * lanes)
                differences.withUnsafeBufferPointer { differences in
                    guard let first = differences.baseAddress else { return }
                    BlockTransform.forward(first + group * 8, to: &coefficients)
                }
                values.withUnsafeMutableBufferPointer { values in
                    guard let first = values.baseAddress else { return }
                    for place in 0..<16 {
                        BlockTransform.store(
                            BlockTransform.numbers(coefficients[place] * 0.5), to: first + place * lanes + group * 8)
                    }
                    BlockTransform.inverse(first + group * 8)
                }
                for place in 0..<16 {
                    for lane in 0..<8 {
                        let index = place * lanes + group * 8 + lane
                        #expect(abs(Int(values[index]) - Int(differences[index])) <= 1)
                    }
                }
            }
        }
        for _ in 0..<200 {
            let first = (0..<16).map { _ in Float(Int16.random(in: -2040...2040, using: &numbers)) }
            var second = [Float](repeating: 0, count: 16)
            BlockTransform.forwardWalsh(first, to: &second)
            var blocks = [Int16](repeating: 0, count: 16)
            BlockTransform.inverseWalsh(second.map { Int16(($0 * 0.5).rounded()) }, to: &blocks)
            #expect((0..<16).allSatisfy { abs(Float(blocks[$0]) - first[$0]) <= 2 })
        }
    }
}
