/// An error for input that ended within a field.
public struct EndOfBytes: Error, Hashable, Sendable {
    /// The offset of the field's start, in bytes from the start of the reader's bytes.
    public let offset: Int

    /// Creates an error for a field that starts at `offset`.
    public init(offset: Int) {
        self.offset = offset
    }
}

/// A reader of big-endian fields in bytes that it borrows. It copies bytes only for ``readArray(_:)``.
///
/// Every read checks its bounds and throws ``EndOfBytes``, so that no input can trap.
public struct ByteReader: ~Escapable {
    private let bytes: RawSpan
    /// Bytes read so far.
    public private(set) var offset = 0

    /// Creates a reader at the start of `bytes`.
    @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) {
        self.bytes = bytes
    }

    /// Bytes not yet read.
    public var remaining: Int { bytes.byteCount - offset }

    /// Reads the next byte.
    @_lifetime(self: copy self)
    public mutating func readUInt8() throws(EndOfBytes) -> UInt8 {
        UInt8(truncatingIfNeeded: try read(UInt8.self))
    }

    /// Reads the next two bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt16() throws(EndOfBytes) -> UInt16 {
        try read(UInt16.self)
    }

    /// Reads the next three bytes, big-endian, into the low 24 bits.
    @_lifetime(self: copy self)
    public mutating func readUInt24() throws(EndOfBytes) -> UInt32 {
        try require(3)
        let high = UInt32(try readUInt8())
        return high << 16 | UInt32(try read(UInt16.self))
    }

    /// Reads the next four bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt32() throws(EndOfBytes) -> UInt32 {
        try read(UInt32.self)
    }

    /// Reads the next eight bytes, big-endian.
    @_lifetime(self: copy self)
    public mutating func readUInt64() throws(EndOfBytes) -> UInt64 {
        try read(UInt64.self)
    }

    /// Reads the next `count` bytes without copying them.
    @_lifetime(copy self)
    public mutating func readBytes(_ count: Int) throws(EndOfBytes) -> RawSpan {
        try require(count)
        let span = bytes.extracting(offset..<offset + count)
        offset += count
        return span
    }

    /// Reads all remaining bytes without copying them.
    @_lifetime(copy self)
    public mutating func readRemaining() -> RawSpan {
        let span = bytes.extracting(offset..<bytes.byteCount)
        offset = bytes.byteCount
        return span
    }

    /// Reads a copy of the next `count` bytes.
    @_lifetime(self: copy self)
    public mutating func readArray(_ count: Int) throws(EndOfBytes) -> [UInt8] {
        [UInt8](try readBytes(count))
    }

    /// Skips `count` bytes.
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
    /// Creates a copy of borrowed bytes.
    public init(_ bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// Calls `body` with these bytes, borrowed.
    public func withRawSpan<Result, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try body(self.span.bytes)
    }
}
