import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("SymbolEncoder")
struct SymbolEncoderTests {
    private static let elements: [(element: SyntaxElement, contexts: Int)] = [
        (.partition8, 4), (.partition16, 4), (.partition64, 4), (.skip, 3), (.isInter, 1), (.newVector, 6),
        (.vectorClass, 2), (.vectorJoint, 1), (.vectorBit, 20), (.chromaMode, 1), (.hasLumaPalette, 9),
        (.lumaPaletteSize, 3), (.lumaColors[0], 5), (.lumaColors[6], 5), (.chromaColors[3], 5),
    ]

    @Test("Any symbols decode as AV1 §8.2 describes it, and the tile ends with a one and zeros", arguments: 0..<20)
    func roundTrip(seed: UInt64) throws {
        var numbers = SeededNumbers(seed + 1)
        for _ in 0..<50 {
            let symbols = try (0..<Int.random(in: 0...200, using: &numbers)).map { _ in
                let (element, contexts) = try #require(Self.elements.randomElement(using: &numbers))
                return (
                    element: element, context: Int.random(in: 0..<contexts, using: &numbers),
                    value: Int.random(in: 0..<element.valueCount, using: &numbers)
                )
            }
            var probabilities = SyntaxElement.initialProbabilities
            let bytes = try probabilities.withUnsafeMutableBufferPointer { probabilities in
                var encoder = SymbolEncoder(after: [], probabilities: try #require(probabilities.baseAddress))
                for symbol in symbols { encoder.write(symbol.value, symbol.element, context: symbol.context) }
                return encoder.finish()
            }
            var decoder = SymbolDecoder(bytes)
            for symbol in symbols {
                try #require(decoder.read(symbol.element, context: symbol.context) == symbol.value)
            }
            #expect(decoder.endsWell && decoder.probabilities == probabilities)
        }
    }

    @Test("The initial probabilities of each element rise to 1, and are as many as the elements have")
    func tables() {
        let all = SyntaxElement.initialProbabilities
        #expect(all.count == SyntaxElement.chromaColors.last?.offset(of: 5))
        for (element, contexts) in Self.elements {
            for context in 0..<contexts {
                let row = all[element.offset(of: context)...].prefix(element.valueCount + 1)
                #expect(row.dropLast() == row.dropLast().sorted()[...] && row.suffix(2) == [1 << 15, 0])
            }
        }
    }
}

/// A decoder of symbols, step by step as AV1 §8.2 describes it.
private struct SymbolDecoder {
    private(set) var probabilities = SyntaxElement.initialProbabilities
    private let bits: [Int]
    private var position = 0
    private var value = 0
    private var range = 1 << 15
    private var remaining: Int

    init(_ bytes: [UInt8]) {
        bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> UInt8(7 - $0)) & 1 } }
        remaining = bits.count - 15
        let count = min(bits.count, 15)
        value = (1 << 15 - 1) ^ (readBits(count) << (15 - count))
    }

    private mutating func readBits(_ count: Int) -> Int {
        defer { position += count }
        return bits[position..<position + count].reduce(0) { $0 << 1 | $1 }
    }

    mutating func read(_ element: SyntaxElement, context: Int) -> Int {
        let (first, count) = (element.offset(of: context), element.valueCount)
        var (current, previous, symbol) = (range, range, -1)
        repeat {
            symbol += 1
            previous = current
            let inverse = 1 << 15 - Int(probabilities[first + symbol])
            current = ((range >> 8) * (inverse >> 6)) >> 1 + 4 * (count - symbol - 1)
        } while value < current
        range = previous - current
        value -= current
        while range < 1 << 15 {
            range <<= 1
            value = (remaining > 0 ? readBits(1) : 0) ^ ((value + 1) << 1 - 1)
            remaining -= 1
        }
        let uses = probabilities[first + count]
        let rate = 3 + (uses > 15 ? 1 : 0) + (uses > 31 ? 1 : 0) + (count > 3 ? 2 : 1)
        for index in first..<first + count - 1 {
            let now = Int(probabilities[index])
            probabilities[index] = UInt16(index - first < symbol ? now - now >> rate : now + (1 << 15 - now) >> rate)
        }
        probabilities[first + count] = min(uses + 1, 32)
        return symbol
    }

    /// Whether the bits after the symbols are those that end a tile (AV1 §8.2.4).
    var endsWell: Bool {
        guard remaining >= -14 else { return false }
        let end = bits[(position - min(15, remaining + 15))...]
        return end.first == 1 && !end.dropFirst().contains(1)
    }
}
