/// Writes EBML (RFC 8794): elements, each an id, a size and its content.
struct EBML {
    private(set) var bytes: [UInt8] = []

    /// The size, of eight bytes, of an element that ends before the first element that it can't contain (§6.2).
    static let unknownSize: [UInt8] = [0x01] + [UInt8](repeating: 0xFF, count: 7)

    mutating func write(_ element: WebMElement, _ content: [UInt8]) {
        bytes += element.bytes
        bytes += Self.size(content.count)
        bytes += content
    }

    mutating func write(_ element: WebMElement, _ number: UInt64) { write(element, Self.bigEndian(number)) }

    mutating func write(_ element: WebMElement, _ text: String) { write(element, Array(text.utf8)) }

    /// Writes an element that contains other elements.
    mutating func write(_ element: WebMElement, _ content: (inout EBML) -> Void) {
        var inner = EBML()
        content(&inner)
        write(element, inner.bytes)
    }

    /// Begins an element whose contained elements follow. Returns the offset to which its size is written later.
    mutating func begin(_ element: WebMElement) -> Int {
        bytes += element.bytes
        defer { bytes += Self.unknownSize }
        return bytes.count
    }

    /// Appends encoded elements.
    mutating func append(_ written: [UInt8]) { bytes += written }

    /// Writes a void element that takes this many bytes with its id and size, at least two.
    mutating func writeVoid(byteCount: Int) {
        let head = byteCount < 0x80 ? 2 : 9
        bytes += WebMElement.void.bytes
        bytes += head == 2 ? Self.size(byteCount - head) : Self.longSize(byteCount - head)
        bytes += [UInt8](repeating: 0, count: byteCount - head)
    }

    /// Returns the id and the size of a void element, without its content.
    static func voidHead(byteCount: Int) -> [UInt8] { WebMElement.void.bytes + longSize(byteCount - 9) }

    /// Encodes a size in as few bytes as possible (§4.4).
    static func size(_ count: Int) -> [UInt8] {
        for length in 1..<8 where count < 1 << (7 * length) - 1 {
            let marked = UInt64(count) | 1 << (7 * UInt64(length))
            return (0..<length).reversed().map { UInt8(truncatingIfNeeded: marked >> (8 * UInt64($0))) }
        }
        return longSize(count)
    }

    /// Encodes a size in eight bytes.
    static func longSize(_ count: Int) -> [UInt8] { fixed(UInt64(count) | 1 << 56, byteCount: 8) }

    /// Encodes a number in as few bytes as possible, and at least one.
    static func bigEndian(_ number: UInt64) -> [UInt8] {
        fixed(number, byteCount: max(1, (64 - number.leadingZeroBitCount + 7) / 8))
    }

    /// Encodes a number in so many bytes.
    static func fixed(_ number: UInt64, byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}
