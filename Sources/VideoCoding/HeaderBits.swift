/// Reads the bits of a header, the highest of each byte first. Headers come from other machines: an end that comes too
/// early is an error.
struct HeaderBits {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader of the first 1024 bytes of a part of a frame. No header that is read here is longer.
    init(_ frame: Span<UInt8>, _ part: Range<Int>) {
        let part = part.prefix(1024)
        bytes = part.map { frame[$0] }
    }

    /// Creates a reader of these bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads up to 32 bits as a number.
    mutating func read(_ count: Int) throws(VideoCodingError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard position < bytes.count * 8 else { throw .corruptedFrame(reason: "a header is truncated") }
            value = value << 1 | UInt32(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    /// Reads one bit.
    mutating func readFlag() throws(VideoCodingError) -> Bool {
        try read(1) == 1
    }

    /// Skips bits.
    mutating func skip(_ count: Int) throws(VideoCodingError) {
        guard count <= bytes.count * 8 - position else { throw .corruptedFrame(reason: "a header is truncated") }
        position += count
    }

    /// Reads a number after as many zeros as it has bits: `ue(v)` (H.264 §9.1), `uvlc()` (AV1 §4.10.3).
    mutating func readExponentialGolomb() throws(VideoCodingError) -> UInt32 {
        var zeros = 0
        while try !readFlag() {
            zeros += 1
            guard zeros < 32 else { throw .corruptedFrame(reason: "a number in a header has more than 32 bits") }
        }
        return try read(zeros) + (1 << UInt32(zeros) - 1)
    }
}
