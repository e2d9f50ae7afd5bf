/// Input ended before a field did. `offset` is where the field began, in bytes from the start of the reader's bytes.
public struct EndOfBytes: Error, Hashable, Sendable {
    /// Where the field began, in bytes.
    public let offset: Int

    /// An end met at `offset`.
    public init(offset: Int) {
        self.offset = offset
    }
}

/// Reads big-endian fields from bytes that it borrows; nothing is copied until a caller asks for an array.
///
/// Every read checks its bounds and throws ``EndOfBytes``, so that no input can trap.
public struct ByteReader: ~Escapable {
    private let bytes: RawSpan
    /// Bytes read so far.
    public private(set) var offset = 0

    /// A reader at the start of `bytes`.
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) {
        self.bytes = bytes
    }

    /// Bytes not yet read.
    public var remaining: Int { bytes.byteCount - offset }

    /// The next byte.
    @_lifetime(self: copy self)
    public mutating func readUInt8() throws(EndOfBytes) -> UInt8 {
        UInt8(truncatingIfNeeded: try read(UInt8.self))
    }

    /// The next two bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt16() throws(EndOfBytes) -> UInt16 {
        try read(UInt16.self)
    }

    /// The next three bytes, big-endian, in the low 24 bits.
    @_lifetime(self: copy self)
    public mutating func readUInt24() throws(EndOfBytes) -> UInt32 {
        try require(3)
        let high = UInt32(try readUInt8())
        return high << 16 | UInt32(try read(UInt16.self))
    }

    /// The next four bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt32() throws(EndOfBytes) -> UInt32 {
        try read(UInt32.self)
    }

    /// The next eight bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt64() throws(EndOfBytes) -> UInt64 {
        try read(UInt64.self)
    }

    /// The next `count` bytes, borrowed.
    @_lifetime(copy self)
    public mutating func readBytes(_ count: Int) throws(EndOfBytes) -> RawSpan {
        try require(count)
        let span = bytes.extracting(offset..<offset + count)
        offset += count
        return span
    }

    /// Everything not yet read, borrowed.
    @_lifetime(copy self)
    public mutating func readRemaining() -> RawSpan {
        let span = bytes.extracting(offset..<bytes.byteCount)
        offset = bytes.byteCount
        return span
    }

    /// The next `count` bytes, copied.
    @_lifetime(self: copy self)
    public mutating func readArray(_ count: Int) throws(EndOfBytes) -> [UInt8] {
        [UInt8](try readBytes(count))
    }

    /// Passes over `count` bytes.
    @_lifetime(self: copy self)
    public mutating func skip(_ count: Int) throws(EndOfBytes) {
        try require(count)
        offset += count
    }

    private func require(_ count: Int) throws(EndOfBytes) {
        guard count >= 0, remaining >= count else { throw EndOfBytes(offset: offset) }
    }

    @_lifetime(self: copy self)
    private mutating func read<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type) throws(EndOfBytes) -> T {
        try require(MemoryLayout<T>.size)
        let value = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self)
        offset += MemoryLayout<T>.size
        return T(bigEndian: value)
    }
}

extension [UInt8] {
    /// A copy of borrowed bytes.
    public init(_ bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// These bytes, borrowed for reading.
    public func withRawSpan<Result, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try body(self.span.bytes)
    }
}
