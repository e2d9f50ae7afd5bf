/// The parameters of a PipeWire camera, byte by byte, valid or not: an SPA object (`spa/pod/pod.h`).
package struct CameraParameter: Sendable {
    package enum Kind: UInt32, Sendable {
        case id = 3
        case rectangle = 10
        case fraction = 11
        case object = 15
        case choice = 19
    }

    /// The SPA keys of a video format.
    package enum Key: UInt32, Sendable {
        case mediaType = 1
        case mediaSubtype = 2
        case format = 0x20001
        case size = 0x20003
        case frameRate = 0x20004
    }

    /// The SPA numbers of lists and of ranges.
    package enum Choice: UInt32, Sendable {
        case none = 0
        case range = 1
        case list = 3
    }

    package static let raw: UInt32 = 1
    package static let jpeg: UInt32 = 0x20002
    package static let yuy2: UInt32 = 4

    private var body: [UInt32] = [0x40003, 3]

    /// Creates a video format.
    package init(_ subtype: UInt32) {
        add(.mediaType, .id, [2])
        add(.mediaSubtype, .id, [subtype])
    }

    /// Adds one value.
    package mutating func add(_ key: Key, _ kind: Kind, _ words: [UInt32]) {
        append(key, kind, size: words.count * 4, words)
    }

    /// Adds several values, each with a declared size of `size` bytes.
    package mutating func add(_ key: Key, _ choice: Choice, of kind: Kind, size: UInt32, _ words: [UInt32]) {
        append(key, .choice, size: 16 + words.count * 4, [choice.rawValue, 0, size, kind.rawValue] + words)
    }

    /// Adds a choice whose body has `size` bytes of these.
    package mutating func addChoice(_ key: Key, size: Int, _ words: [UInt32]) {
        append(key, .choice, size: size, words)
    }

    private mutating func append(_ key: Key, _ kind: Kind, size: Int, _ words: [UInt32]) {
        body += [key.rawValue, 0, UInt32(size), kind.rawValue] + words
        if body.count % 2 == 1 { body.append(0) }
    }

    package var bytes: [UInt8] {
        let words = [UInt32(body.count * 4), Kind.object.rawValue] + body
        return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    /// Lends bytes as PipeWire does: aligned, and with no other memory of this process behind them.
    package static func withMemory<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) throws -> Result) rethrows
        -> Result
    {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 8), alignment: 8)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        guard let start = memory.baseAddress else { preconditionFailure("memory of some bytes has a start") }
        return try body(OpaquePointer(start))
    }
}
