/// A writer of big-endian fields into memory that another object owns, for packets that are built in place.
///
/// A write past the end throws ``EndOfBytes`` and changes nothing. Messages that are rare or of unknown size are built
/// with the `append(bigEndian:)` methods of `[UInt8]` instead.
///
/// The methods are inlined at their call sites, in other modules too. A field then costs a comparison and a store. A
/// call of the generic methods would cost more than the packet's encryption.
public struct ByteWriter: ~Copyable, ~Escapable {
    @usableFromInline var bytes: MutableRawSpan
    /// Bytes written so far.
    @inlinable public var offset: Int { position }
    @usableFromInline var position = 0

    /// Creates a writer at the start of `bytes`.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: consuming MutableRawSpan) {
        self.bytes = bytes
    }

    /// The bytes written so far.
    @inlinable public var written: RawSpan {
        @_lifetime(borrow self)
        get { bytes.bytes.extracting(0..<position) }
    }

    /// Bytes that still fit.
    @inlinable public var remaining: Int { bytes.byteCount - position }

    /// Writes an integer, most significant byte first.
    @_lifetime(self: copy self)
    @inlinable
    public mutating func write<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) throws(EndOfBytes) {
        try require(MemoryLayout<T>.size)
        bytes.storeBytes(of: value.bigEndian, toByteOffset: position, as: T.self)
        position += MemoryLayout<T>.size
    }

    /// Writes borrowed bytes.
    @_lifetime(self: copy self)
    @inlinable
    public mutating func write(_ source: RawSpan) throws(EndOfBytes) {
        try require(source.byteCount)
        guard source.byteCount > 0 else { return }
        let start = position
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { unsafe target.baseAddress?.advanced(by: start).copyMemory(from: $0) }
        }
        position += source.byteCount
    }

    /// Writes `count` zero bytes.
    @_lifetime(self: copy self)
    @inlinable
    public mutating func writeZeros(_ count: Int) throws(EndOfBytes) {
        try require(count)
        for _ in 0..<count { try write(UInt8(0)) }
    }

    @inlinable
    func require(_ count: Int) throws(EndOfBytes) {
        guard count >= 0, remaining >= count else { throw EndOfBytes(offset: position) }
    }
}

extension UnsafeMutableRawPointer {
    @inlinable
    func copyMemory(from source: UnsafeRawBufferPointer) {
        guard let base = source.baseAddress else { return }
        unsafe copyMemory(from: base, byteCount: source.count)
    }
}

extension [UInt8] {
    /// Appends an integer, most significant byte first.
    public mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        var shift = T.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }

    /// Appends the low 24 bits, most significant byte first.
    public mutating func append(bigEndian24 value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(bigEndian: UInt16(truncatingIfNeeded: value))
    }

    /// Replaces the two bytes at `offset`, such as a length field in front of the data that it counts.
    public mutating func replace(bigEndian value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}
