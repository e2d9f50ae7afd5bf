internal import Glibc

/// Collects the tokens of blocks (RFC 6386 §13), and writes them when all are known, with adapted probabilities if
/// their updates take fewer bits than they save.
///
/// A token consists of Boolean values, each stored as twice the index of its probability, plus one if it is true.
final class TokenWriter {
    /// The types of blocks (RFC 6386 §13.3).
    enum BlockKind: Int {
        /// Luma whose DC coefficients are in a Y2 block.
        case lumaWithoutDC = 0
        /// The DC coefficients of a macroblock's sixteen luma blocks.
        case y2 = 1
        case chroma = 2

        /// The index of the block's first coefficient.
        var first: Int { self == .lumaWithoutDC ? 1 : 0 }
    }

    /// The constant probabilities: of signs, and of the bits of large values, by category.
    private static let fixed: [UInt8] =
        [
            128, 159, 165, 145, 173, 148, 140, 176, 155, 140, 135, 180, 157, 141, 134, 130, 254, 254, 243, 230, 196,
            177,
            153, 140, 133, 130, 129,
        ]
    /// The categories of large values: the base, the number of extra bits, and the index of their first probability.
    private static let categories: [(base: Int32, bits: Int32, place: Int32)] = [
        (5, 1, 1), (7, 2, 2), (11, 3, 4), (19, 4, 7), (35, 5, 11), (67, 11, 16),
    ]
    /// The zigzag order of coefficients: their indices of four bits each, the first one lowest.
    private static let order: UInt64 = 0xFEB7_ADC9_6325_8410

    /// Returns the index in a block of the coefficient at this position.
    @inline(__always)
    static func place(_ position: Int) -> Int {
        Int(truncatingIfNeeded: order >> UInt64(truncatingIfNeeded: position &* 4) & 15)
    }

    private static let bands: [Int] = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7]

    private static let adaptableCount = 4 * CoefficientProbabilities.kindStride
    private static let placeCount = adaptableCount + 27
    /// The maximum number of Boolean values in a block.
    private static let mostOfBlock = 16 * 20

    /// The cost of a value with a given probability in 256ths, in 256ths of a bit.
    private static let costs: [UInt16] = (0...256).map { share in
        UInt16(min(-log2(Double(max(share, 1)) / 256) * 256, 4095))
    }

    private var decisions: UnsafeMutablePointer<UInt16>
    private var capacity: Int
    private var count = 0
    /// The probability for each index.
    private let probabilities: UnsafeMutablePointer<UInt8>
    /// The number of occurrences and the cost of each value.
    private let counts: UnsafeMutablePointer<UInt32>
    private let prices: UnsafeMutablePointer<UInt16>
    private let zigzag: UnsafeMutablePointer<Int>
    private let bandPlaces: UnsafeMutablePointer<Int>
    /// The cost of all values with the initial probabilities, in 256ths of a bit.
    private var price = 0

    init() {
        capacity = 1 << 16
        decisions = .allocate(capacity: capacity)
        probabilities = .allocate(capacity: Self.placeCount)
        counts = .allocate(capacity: Self.placeCount * 2)
        prices = .allocate(capacity: Self.placeCount * 2)
        zigzag = .allocate(capacity: 16)
        bandPlaces = .allocate(capacity: 17)
        for index in 0..<16 { zigzag[index] = Self.place(index) }
        for (index, band) in Self.bands.enumerated() { bandPlaces[index] = band * CoefficientProbabilities.bandStride }
        bandPlaces[16] = 0
        for (index, value) in Self.fixed.enumerated() { probabilities[Self.adaptableCount + index] = value }
        begin(CoefficientProbabilities())
    }

    deinit {
        decisions.deallocate()
        probabilities.deallocate()
        counts.deallocate()
        prices.deallocate()
        zigzag.deallocate()
        bandPlaces.deallocate()
    }

    /// Removes all values, and sets the probabilities for the next ones.
    func begin(_ new: CoefficientProbabilities) {
        count = 0
        price = 0
        new.values.withUnsafeBufferPointer { values in
            guard let first = values.baseAddress else { return }
            probabilities.update(from: first, count: Self.adaptableCount)
        }
        counts.update(repeating: 0, count: Self.placeCount * 2)
        Self.costs.withUnsafeBufferPointer { costs in
            for place in 0..<Self.placeCount {
                prices[place * 2] = costs[Int(probabilities[place])]
                prices[place * 2 + 1] = costs[256 - Int(probabilities[place])]
            }
        }
    }

    /// The approximate number of bytes so far.
    var byteCount: Int { price >> 11 }

    /// Returns the position of a block's EOB token, after which all coefficients are zero.
    func endOfBlock(in levels: UnsafePointer<Int16>) -> Int {
        var position = 16
        while position > 0, levels[zigzag[position - 1]] == 0 { position -= 1 }
        return position
    }

    /// Writes a block of 16 coefficients, row by row and `stride` apart, up to its EOB. `context` is the number of
    /// neighbors above and left that have coefficients. Returns whether this block has any.
    func write(
        _ levels: UnsafePointer<Int16>, stride: Int, endOfBlock: Int, _ kind: BlockKind, context: Int
    ) -> Bool {
        if count + Self.mostOfBlock > capacity { grow() }
        let first = kind.first
        let base = kind.rawValue * CoefficientProbabilities.kindStride
        var place = base + bandPlaces[first] + context * CoefficientProbabilities.contextStride
        var position = first
        // Local copies of the properties are faster.
        var (next, sum) = (decisions + count, 0)
        let (counts, prices, bandPlaces, zigzag) = (counts, prices, bandPlaces, zigzag)
        @inline(__always)
        func decide(_ bit: Int, _ place: Int) {
            let decision = place &* 2 &+ bit
            next.pointee = UInt16(truncatingIfNeeded: decision)
            next += 1
            counts[decision] &+= 1
            sum &+= Int(prices[decision])
        }
        // No EOB follows a zero.
        var mayBeEnd = true
        while position < endOfBlock {
            if mayBeEnd { decide(1, place) }
            let value = Int32(levels[zigzag[position] &* stride])
            position &+= 1
            let following = base &+ bandPlaces[position]
            guard value != 0 else {
                decide(0, place &+ 1)
                mayBeEnd = false
                place = following
                continue
            }
            decide(1, place &+ 1)
            mayBeEnd = true
            let magnitude = abs(value)
            if magnitude == 1 {
                decide(0, place &+ 2)
                place = following &+ CoefficientProbabilities.contextStride
            } else {
                decide(1, place &+ 2)
                if magnitude <= 4 {
                    decide(0, place &+ 3)
                    decide(magnitude > 2 ? 1 : 0, place &+ 4)
                    if magnitude > 2 { decide(magnitude > 3 ? 1 : 0, place &+ 5) }
                } else {
                    decide(1, place &+ 3)
                    let category =
                        magnitude < 7
                        ? 0 : magnitude < 11 ? 1 : magnitude < 19 ? 2 : magnitude < 35 ? 3 : magnitude < 67 ? 4 : 5
                    decide(category >= 2 ? 1 : 0, place &+ 6)
                    if category < 2 {
                        decide(category, place &+ 7)
                    } else if category < 4 {
                        decide(0, place &+ 8)
                        decide(category &- 2, place &+ 9)
                    } else {
                        decide(1, place &+ 8)
                        decide(category &- 4, place &+ 10)
                    }
                    let (base, bits, first) = Self.categories[category]
                    let rest = magnitude &- base
                    for bit in 0..<bits {
                        decide(
                            Int(rest >> (bits &- 1 &- bit) & 1), Self.adaptableCount &+ Int(first &+ bit))
                    }
                }
                place = following &+ 2 &* CoefficientProbabilities.contextStride
            }
            decide(value < 0 ? 1 : 0, Self.adaptableCount)
        }
        if endOfBlock < 16 { decide(0, place) }
        count = next - decisions
        price &+= sum
        return endOfBlock > first
    }

    private func grow() {
        let larger = UnsafeMutablePointer<UInt16>.allocate(capacity: capacity * 2)
        larger.update(from: decisions, count: count)
        decisions.deallocate()
        decisions = larger
        capacity *= 2
    }

    /// Returns the probabilities that are worth changing for this frame, index and value, and uses them from now on.
    func adapt() -> [(index: Int, value: UInt8)] {
        var updates: [(index: Int, value: UInt8)] = []
        CoefficientUpdateProbabilities.values.withUnsafeBufferPointer { likelihoods in
            Self.costs.withUnsafeBufferPointer { costs in
                for place in 0..<Self.adaptableCount {
                    let (no, yes) = (Int(counts[place * 2]), Int(counts[place * 2 + 1]))
                    guard no + yes > 8 else { continue }
                    let value = min(max((no * 256 + (no + yes) / 2) / (no + yes), 1), 255)
                    let before = Int(probabilities[place])
                    let saved =
                        no * (Int(costs[before]) - Int(costs[value]))
                        + yes * (Int(costs[256 - before]) - Int(costs[256 - value]))
                    let likelihood = Int(likelihoods[place])
                    let spent = 8 * 256 + Int(costs[256 - likelihood]) - Int(costs[likelihood])
                    guard saved > spent else { continue }
                    updates.append((place, UInt8(truncatingIfNeeded: value)))
                    probabilities[place] = UInt8(truncatingIfNeeded: value)
                    price -= saved - spent
                }
            }
        }
        return updates
    }

    /// Returns the written bytes.
    func finish() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + byteCount / 16 + 64)
        var encoder = BooleanEncoder(after: bytes)
        encoder.write(UnsafeBufferPointer(start: decisions, count: count), probabilities)
        return encoder.finish()
    }
}
