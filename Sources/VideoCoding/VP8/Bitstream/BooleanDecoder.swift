/// A decoder of the Boolean values in a VP8 frame (RFC 6386 §7).
struct BooleanDecoder {
    private let bytes: [UInt8]
    private var position: Int
    private var value: UInt32
    private var range: UInt32 = 255
    private var shifts = 0

    /// Creates a decoder that starts at the byte `start`. Bytes after the last one count as zero.
    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        position = start
        value = 0
        for _ in 0..<2 { value = value << 8 | nextByte() }
    }

    /// Whether the decoder has not read past the end of the data.
    var isWithinData: Bool { position <= bytes.count }

    /// Reads a value that is false with a probability of `probability` / 256.
    mutating func read(_ probability: UInt8) -> Bool {
        let split = 1 + ((range - 1) * UInt32(probability)) >> 8
        let bit = value >= split << 8
        range = bit ? range - split : split
        if bit { value -= split << 8 }
        while range < 128 {
            value <<= 1
            range <<= 1
            shifts += 1
            if shifts == 8 {
                shifts = 0
                value |= nextByte()
            }
        }
        return bit
    }

    /// Reads a value that is true or false with equal probability.
    mutating func readFlag() -> Bool { read(128) }

    /// Reads a number of `count` bits, the highest first.
    mutating func readLiteral(bits count: Int) -> Int {
        (0..<count).reduce(0) { value, _ in value << 1 | (readFlag() ? 1 : 0) }
    }

    mutating func skip(bits count: Int) {
        for _ in 0..<count { _ = readFlag() }
    }

    /// Skips a flag, and `count` bits if it is set.
    mutating func skipOptional(bits count: Int) {
        if readFlag() { skip(bits: count) }
    }

    private mutating func nextByte() -> UInt32 {
        defer { position += 1 }
        return position < bytes.count ? UInt32(bytes[position]) : 0
    }
}
