import RTCShareWireFormat

/// A ``ByteReader`` whose errors name the field, with offsets from the start of the outermost packet.
struct FieldReader: ~Escapable {
    private var reader: ByteReader
    private let base: Int

    @_lifetime(copy bytes)
    init(_ bytes: RawSpan, base: Int = 0) {
        self.reader = ByteReader(bytes)
        self.base = base
    }

    var offset: Int { base + reader.offset }
    var remaining: Int { reader.remaining }

    @_lifetime(self: copy self)
    mutating func uint8(_ field: RTPField) throws(RTPError) -> UInt8 {
        do { return try reader.readUInt8() } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func uint16(_ field: RTPField) throws(RTPError) -> UInt16 {
        do { return try reader.readUInt16() } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func uint24(_ field: RTPField) throws(RTPError) -> UInt32 {
        do { return try reader.readUInt24() } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func uint32(_ field: RTPField) throws(RTPError) -> UInt32 {
        do { return try reader.readUInt32() } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func uint64(_ field: RTPField) throws(RTPError) -> UInt64 {
        do { return try reader.readUInt64() } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func array(_ count: Int, _ field: RTPField) throws(RTPError) -> [UInt8] {
        do { return try reader.readArray(count) } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func source(_ field: RTPField) throws(RTPError) -> SynchronizationSource {
        SynchronizationSource(try uint32(field))
    }

    @_lifetime(self: copy self)
    mutating func skip(_ count: Int, _ field: RTPField) throws(RTPError) {
        do { try reader.skip(count) } catch { throw truncated(field, error) }
    }

    @_lifetime(self: copy self)
    mutating func remainingArray() -> [UInt8] { [UInt8](reader.readRemaining()) }

    private func truncated(_ field: RTPField, _ error: EndOfBytes) -> RTPError {
        .truncated(field, offset: base + error.offset)
    }
}
