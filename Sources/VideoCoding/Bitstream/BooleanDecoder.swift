/// Reads the decisions of a VP8 frame (RFC 6386 §7).
struct BooleanDecoder {
    private let bytes: [UInt8]
    private var position: Int
    private var value: UInt32
    private var range: UInt32 = 255
    private var shifts = 0

    /// From that byte on; what is beyond the last is zero.
    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        position = start
        value = 0
        for _ in 0..<2 { value = value << 8 | nextByte() }
    }

    /// Whether nothing was read that is not there.
    var isWithinData: Bool { position <= bytes.count }

    /// A decision whose probability to be false is so many 256ths.
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

    /// A decision that is as likely as not.
    mutating func readFlag() -> Bool { read(128) }

    /// A number of `count` bits, the highest first.
    mutating func readLiteral(bits count: Int) -> Int {
        (0..<count).reduce(0) { value, _ in value << 1 | (readFlag() ? 1 : 0) }
    }

    mutating func skip(bits count: Int) {
        for _ in 0..<count { _ = readFlag() }
    }

    /// A flag, and so many bits where it is set.
    mutating func skipOptional(bits count: Int) {
        if readFlag() { skip(bits: count) }
    }

    private mutating func nextByte() -> UInt32 {
        defer { position += 1 }
        return position < bytes.count ? UInt32(bytes[position]) : 0
    }
}
