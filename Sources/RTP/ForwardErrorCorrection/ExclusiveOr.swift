import RTCShareWireFormat

extension [UInt8] {
    /// Calls `body` with these bytes, borrowed for writing.
    mutating func withMutableRawSpan(_ body: (inout MutableRawSpan) -> Void) {
        var span = mutableSpan
        var bytes = span.mutableBytes
        body(&bytes)
    }
}

extension MutableRawSpan {
    /// Replaces the bytes from `offset` with their exclusive or with `other`, which must fit.
    @_lifetime(self: copy self)
    mutating func formExclusiveOr(_ other: RawSpan, at offset: Int) {
        var index = 0
        while index + 8 <= other.byteCount {
            let mine = unsafeLoadUnaligned(fromByteOffset: offset + index, as: UInt64.self)
            let theirs = other.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            storeBytes(of: mine ^ theirs, toByteOffset: offset + index, as: UInt64.self)
            index += 8
        }
        while index < other.byteCount {
            let mine = unsafeLoadUnaligned(fromByteOffset: offset + index, as: UInt8.self)
            let theirs = other.unsafeLoadUnaligned(fromByteOffset: index, as: UInt8.self)
            storeBytes(of: mine ^ theirs, toByteOffset: offset + index, as: UInt8.self)
            index += 1
        }
    }

    /// Sets the first `count` bytes to zero.
    @_lifetime(self: copy self)
    mutating func clear(_ count: Int) {
        for index in 0..<min(count, byteCount) { storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
    }
}
