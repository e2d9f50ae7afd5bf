internal import RTCShareWireFormat

/// A reader of the bits of a header within a frame, the highest of each byte first, whose errors name the field.
struct HeaderBits {
    private let bytes: [UInt8]
    private let field: RTPField
    /// The offset of the header in the frame.
    private let base: Int
    private var position = 0

    /// Creates a reader of the first 1024 bytes of a part of a frame. No header that is read here is longer.
    init(_ frame: RawSpan, _ part: Range<Int>, _ field: RTPField) {
        let part = part.prefix(1024)
        self.init([UInt8](frame.extracting(part)), field, base: part.lowerBound)
    }

    /// Creates a reader of these bytes.
    init(_ bytes: [UInt8], _ field: RTPField, base: Int) {
        self.bytes = bytes
        self.field = field
        self.base = base
    }

    /// An error for a value that the field can't have, whose bits were read last.
    var invalid: RTPError { .invalid(field, offset: base + max(position - 1, 0) / 8) }

    /// Reads up to 32 bits as a number.
    mutating func read(_ count: Int) throws(RTPError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard position < bytes.count * 8 else { throw .truncated(field, offset: base + bytes.count) }
            value = value << 1 | UInt32(bytes[position / 8] >> UInt8(7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    /// Reads one bit.
    mutating func readFlag() throws(RTPError) -> Bool {
        try read(1) == 1
    }

    /// Skips bits.
    mutating func skip(_ count: Int) throws(RTPError) {
        guard count <= bytes.count * 8 - position else { throw .truncated(field, offset: base + bytes.count) }
        position += count
    }

    /// Reads a number after as many zeros as it has bits: `ue(v)` (H.264 §9.1), `uvlc()` (AV1 §4.10.3).
    mutating func readExponentialGolomb() throws(RTPError) -> UInt32 {
        var zeros = 0
        while try !readFlag() {
            zeros += 1
            guard zeros < 32 else { throw invalid }
        }
        return try read(zeros) + (1 << UInt32(zeros) - 1)
    }
}
