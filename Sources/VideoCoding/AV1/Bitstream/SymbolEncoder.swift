/// An encoder of the symbols in a tile (AV1 §8.2), with probabilities that adapt to them.
struct SymbolEncoder {
    private(set) var bytes: [UInt8]
    /// The cumulative probabilities of the tile's syntax elements, which adapt.
    private let probabilities: UnsafeMutablePointer<UInt16>
    /// The encoded value so far, of which the lowest 15 bits are the window that `range` divides.
    private var low: UInt64 = 0
    private var range: UInt32 = 1 << 15
    /// The number of bits of `low` above the window.
    private var pending = 0

    /// Creates an encoder that appends to `bytes`. The probabilities must outlive it.
    init(after bytes: consuming [UInt8], probabilities: UnsafeMutablePointer<UInt16>) {
        self.bytes = bytes
        self.probabilities = probabilities
    }

    /// Writes a value of a syntax element, and adapts the probabilities of the context.
    mutating func write(_ value: Int, _ element: SyntaxElement, context: Int = 0) {
        let count = element.valueCount
        let cumulative = probabilities + element.offset(of: context)
        encode(
            from: value == 0 ? 0 : UInt32(cumulative[value - 1]), to: UInt32(cumulative[value]),
            valuesAfter: count - 1 - value)
        // AV1 §8.2.6: adaptation is faster at first.
        let uses = cumulative[count]
        let rate = 3 + (uses > 15 ? 1 : 0) + (uses > 31 ? 1 : 0) + UInt16(count < 4 ? 1 : 2)
        for index in 0..<value { cumulative[index] -= cumulative[index] >> rate }
        for index in value..<count - 1 { cumulative[index] += (1 << 15 - cumulative[index]) >> rate }
        if uses < 32 { cumulative[count] = uses + 1 }
    }

    /// Writes a flag, which is false with a probability in 32768ths that is given and does not adapt.
    mutating func write(_ flag: Bool, probabilityOfFalse: Int) {
        let split = UInt32(probabilityOfFalse)
        encode(from: flag ? split : 0, to: flag ? 1 << 15 : split, valuesAfter: flag ? 0 : 1)
    }

    /// Writes a number of `count` bits, each as probable as its opposite.
    mutating func write(_ value: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(value >> bit & 1 == 1, probabilityOfFalse: 1 << 14) }
    }

    /// Writes one of the numbers below `limit`, which are equally probable (AV1 §4.10.10).
    mutating func write(_ value: Int, below limit: Int) {
        let bitCount = Int.bitWidth - limit.leadingZeroBitCount
        // As many numbers as this need one bit less.
        let short = (1 << bitCount) - limit
        if value < short { return write(value, bits: bitCount - 1) }
        write((value + short) >> 1, bits: bitCount - 1)
        write((value + short) & 1, bits: 1)
    }

    /// Returns the sum of the probabilities of some values, in 32768ths.
    func probability(of values: [Int], _ element: SyntaxElement, context: Int) -> Int {
        let cumulative = probabilities + element.offset(of: context)
        return values.reduce(0) { $0 + Int(cumulative[$1]) - ($1 == 0 ? 0 : Int(cumulative[$1 - 1])) }
    }

    /// Encodes a value whose cumulative probability is between two, so that each later value keeps a part of the range.
    @inline(__always)
    private mutating func encode(from start: UInt32, to end: UInt32, valuesAfter: Int) {
        // Decoders count from the highest value down.
        func part(_ cumulative: UInt32, _ others: Int) -> UInt32 {
            (range >> 8 * ((1 << 15 - cumulative) >> 6)) >> 1 + 4 * UInt32(others)
        }
        let upper = start == 0 ? range : part(start, valuesAfter + 1)
        let lower = part(end, valuesAfter)
        low += UInt64(range - upper)
        range = upper - lower
        let shift = range.leadingZeroBitCount - 16
        range <<= UInt32(shift)
        low <<= UInt64(shift)
        pending += shift
        while pending >= 8 { emit() }
    }

    /// Writes the remaining bits: a one and zeros end the tile (AV1 §8.2.4).
    consuming func finish() -> [UInt8] {
        // The first value in the range whose window has only its highest bit.
        low = (low + 0x3FFF) & ~0x7FFF + 0x4000
        // That bit is part of the tile.
        low <<= 1
        pending += 1
        let padding = (8 - pending & 7) & 7
        low <<= UInt64(padding)
        pending += padding
        while pending >= 8 { emit() }
        return bytes
    }

    private mutating func emit() {
        pending -= 8
        let value = low >> UInt64(pending + 15)
        low &= 1 << UInt64(pending + 15) - 1
        // A carry, which can be two as the range is larger than the window, is added to the bytes written so far.
        var (carry, index) = (value >> 8, bytes.count - 1)
        while carry > 0 {
            let sum = UInt64(bytes[index]) + carry
            bytes[index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
            index -= 1
        }
        bytes.append(UInt8(truncatingIfNeeded: value))
    }
}
