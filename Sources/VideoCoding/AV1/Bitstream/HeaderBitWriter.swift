/// A writer of the bits of a header, the highest of each byte first (AV1 §4.10.2).
struct HeaderBitWriter {
    private(set) var bytes: [UInt8] = []
    /// The number of unused bits in the last byte.
    private var unused = 0

    /// Writes a number of `count` bits.
    mutating func write(_ value: Int, bits count: Int) {
        for bit in (0..<count).reversed() { write(value >> bit & 1 == 1) }
    }

    /// Writes a flag. The rest of the byte is zero until then.
    mutating func write(_ flag: Bool) {
        if unused == 0 {
            bytes.append(0)
            unused = 8
        }
        unused -= 1
        if flag { bytes[bytes.count - 1] |= 1 << UInt8(unused) }
    }
}
