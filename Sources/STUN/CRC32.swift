/// The cyclic redundancy check of ITU V.42, which FINGERPRINT uses (RFC 8489 §14.7).
struct CRC32 {
    private var register: UInt32 = .max

    /// The checksum of all bytes so far.
    var value: UInt32 { ~register }

    /// Adds bytes to the checksum.
    mutating func update(_ bytes: RawSpan) {
        for offset in 0..<bytes.byteCount {
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            register = Self.table[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ register >> 8
        }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
}
