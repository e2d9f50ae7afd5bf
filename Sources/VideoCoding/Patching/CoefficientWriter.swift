/// Writes the coefficients of blocks (RFC 6386 §13).
struct CoefficientWriter {
    private(set) var encoder: BooleanEncoder
    private let probabilities: CoefficientProbabilities

    /// Kinds of block.
    enum Kind: Int {
        /// Luma without its first coefficient.
        case luma = 0
        /// The first coefficients of luma.
        case second = 1
        case chroma = 2

        /// Where its coefficients begin.
        var first: Int { self == .luma ? 1 : 0 }
    }

    /// The order in which coefficients go.
    private static let order: [Int] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15]
    private static let bands: [Int] = [0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7]
    /// Ranges of large values: where each begins, and how likely its bits are not set, the highest first.
    private static let categories: [(base: Int32, probabilities: [UInt8])] = [
        (5, [159]), (7, [165, 145]), (11, [173, 148, 140]), (19, [176, 155, 140, 135]),
        (35, [180, 157, 141, 134, 130]),
        (67, [254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129]),
    ]

    init(probabilities: CoefficientProbabilities) {
        self.probabilities = probabilities
        var bytes: [UInt8] = []
        // What most patches stay below.
        bytes.reserveCapacity(4096)
        encoder = BooleanEncoder(after: bytes)
    }

    /// Bytes so far.
    var byteCount: Int { encoder.bytes.count }

    /// Writes a block of 16 coefficients, row by row as they lie; `context` is how many of the blocks above and left have
    /// some. Whether this has.
    mutating func write(_ coefficients: UnsafePointer<Int16>, _ kind: Kind, context: Int) -> Bool {
        var end = 16
        while end > kind.first, coefficients[Self.order[end - 1]] == 0 { end -= 1 }
        var context = context
        var mayEnd = true
        for position in kind.first..<end {
            let place = placeOfProbabilities(kind, position, context)
            let value = Int32(coefficients[Self.order[position]])
            if mayEnd { decide(true, place) }
            decide(value != 0, place + 1)
            mayEnd = value != 0
            guard value != 0 else {
                context = 0
                continue
            }
            write(magnitude: abs(value), place)
            encoder.write(value < 0, 128)
            context = abs(value) == 1 ? 1 : 2
        }
        if end < 16 { decide(false, placeOfProbabilities(kind, end, context)) }
        return end > kind.first
    }

    private func placeOfProbabilities(_ kind: Kind, _ position: Int, _ context: Int) -> Int {
        kind.rawValue * CoefficientProbabilities.kindStride + Self.bands[position] * CoefficientProbabilities.bandStride
            + context * CoefficientProbabilities.contextStride
    }

    private mutating func decide(_ bit: Bool, _ place: Int) {
        encoder.write(bit, probabilities.values[place])
    }

    private mutating func write(magnitude: Int32, _ place: Int) {
        decide(magnitude > 1, place + 2)
        guard magnitude > 1 else { return }
        decide(magnitude > 4, place + 3)
        guard magnitude > 4 else {
            decide(magnitude > 2, place + 4)
            if magnitude > 2 { decide(magnitude > 3, place + 5) }
            return
        }
        let category = (Self.categories.lastIndex { magnitude >= $0.base }) ?? 0
        decide(category >= 2, place + 6)
        switch category {
        case 0, 1: decide(category == 1, place + 7)
        case 2, 3:
            decide(false, place + 8)
            decide(category == 3, place + 9)
        default:
            decide(true, place + 8)
            decide(category == 5, place + 10)
        }
        let (base, bits) = Self.categories[category]
        for (index, probability) in bits.enumerated() {
            encoder.write((magnitude - base) >> (bits.count - 1 - index) & 1 == 1, probability)
        }
    }

    /// What was written.
    consuming func finish() -> [UInt8] { encoder.finish() }
}
