import RTCShareWireFormat

/// An input that is a script: steps of a kind, each with bytes.
///
///     kind ─ length of the bytes (2, big-endian) ─ bytes ─ kind …
///
/// Every input is one: the last step ends with the input.
struct Script: Sequence, IteratorProtocol {
    struct Step {
        let kind: UInt8
        let bytes: [UInt8]

        /// A number at a place, zero beyond the end.
        func number(_ offset: Int) -> Int { offset < bytes.count ? Int(bytes[offset]) : 0 }

        /// Two bytes at a place as a number.
        func number16(_ offset: Int) -> Int { number(offset) << 8 | number(offset + 1) }

        /// Two bytes at a place as a number with a sign.
        func signed16(_ offset: Int) -> Int { Int(Int16(truncatingIfNeeded: number16(offset))) }
    }

    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    mutating func next() -> Step? {
        guard let kind = rest.popFirst() else { return nil }
        let length = Int(rest.popFirst() ?? 0) << 8 | Int(rest.popFirst() ?? 0)
        let bytes = Array(rest.prefix(length))
        rest = rest.dropFirst(length)
        return Step(kind: kind, bytes: bytes)
    }

    /// The input that has these steps.
    static func bytes(_ steps: [(kind: UInt8, bytes: [UInt8])]) -> [UInt8] {
        steps.flatMap { [$0.kind, UInt8($0.bytes.count >> 8), UInt8($0.bytes.count & 0xFF)] + $0.bytes }
    }
}

/// The bytes that a writer of headers writes.
func written(_ count: Int, _ write: (inout ByteWriter) throws -> Void) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var writer = ByteWriter(span.mutableBytes)
    try write(&writer)
    return bytes
}
