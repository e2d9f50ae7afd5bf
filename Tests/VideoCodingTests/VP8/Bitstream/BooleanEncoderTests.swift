import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("BooleanEncoder")
struct BooleanEncoderTests {
    @Test("Encoded booleans are decoded unchanged, whatever their probabilities and carries")
    func roundTrip() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(seed)
            var decisions: [(Bool, UInt8)] = []
            for _ in 0..<2000 {
                // Runs of one kind bring long rows of ones, into which a sum carries.
                let probability: UInt8 = seed % 4 == 0 ? 128 : .random(in: 1...255, using: &numbers)
                let bit = seed % 3 == 0 ? true : UInt8.random(in: 0...255, using: &numbers) >= probability
                decisions.append((bit, probability))
            }
            var encoder = BooleanEncoder(after: [9, 9, 9])
            for (bit, probability) in decisions { encoder.write(bit, probability) }
            encoder.writeLiteral(0b1011, bits: 4)
            let bytes = encoder.finish()
            #expect(bytes[..<3] == [9, 9, 9])
            var decoder = BooleanDecoder(bytes, from: 3)
            #expect(decisions.allSatisfy { decoder.read($0.1) == $0.0 })
            #expect((0..<4).map { _ in decoder.readFlag() } == [true, false, true, true])
            #expect(decoder.isWithinData)
            // Many at once are no different.
            var other = BooleanEncoder(after: [9, 9, 9])
            let coded = decisions.map { UInt16($0.1) * 2 + ($0.0 ? 1 : 0) }
            let probabilities = (0...255).map { UInt8($0) }
            coded.withUnsafeBufferPointer { coded in
                for half in [coded.prefix(700), coded.dropFirst(700)] {
                    other.write(UnsafeBufferPointer(rebasing: half), probabilities)
                }
            }
            other.writeLiteral(0b1011, bits: 4)
            #expect(other.finish() == bytes)
        }
    }

    @Test("A group of values is encoded to the same bytes as its single values")
    func group() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(seed)
            let count = Int.random(in: 1...4, using: &numbers)
            let values = (0..<count).map { _ in
                (bit: Bool.random(using: &numbers), probability: UInt8.random(in: 1...255, using: &numbers))
            }
            let group = BooleanEncoder.ValueGroup(values)
            var together = BooleanEncoder(after: [9])
            var single = together
            for index in 0..<500 {
                let isOther = index % 7 == 0
                single.write(isOther, 200)
                together.write(isOther, 200)
                for value in values { single.write(value.bit, value.probability) }
                together.write(group)
            }
            #expect(together.finish() == single.finish())
        }
    }
}
