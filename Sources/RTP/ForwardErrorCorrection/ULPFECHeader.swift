package import RTCShareWireFormat

/// The header of a ULPFEC packet and of its level 0 (RFC 5109 §7.3, §7.4). The higher levels protect the beginnings of
/// packets more than their ends, which does not help frames that need all of their bytes.
package struct ULPFECHeader: Hashable, Sendable {
    /// The exclusive or of the first two bytes of the protected packets, without the version: P, X, CC, M, PT.
    package var flags: UInt16
    /// The lowest sequence number that the mask can name.
    package var base: SequenceNumber
    /// The exclusive or of the timestamps.
    package var timestamp: UInt32
    /// The exclusive or of the packets' lengths without their fixed headers.
    package var length: UInt16
    /// The number of protected bytes after the fixed headers, which is the number of bytes after this header.
    package var protectionLength: UInt16
    /// The protected packets: bit `i`, counted from the lowest, represents `base` + `i`.
    package var mask: UInt64

    /// The number of packets that a mask can name.
    package static let maximumPackets = 48
    /// The number of packets that the short mask can name.
    private static let shortMask = 16
    /// L: the mask is long.
    private static let longMaskFlag: UInt16 = 0x4000
    /// The bits of the first two bytes that protect packets: all but E, which must be zero, and L.
    private static let recoveryFlags: UInt16 = 0x3FFF

    /// Creates a header. Bits of the mask above the 48th are ignored.
    package init(
        flags: UInt16, base: SequenceNumber, timestamp: UInt32, length: UInt16, protectionLength: UInt16, mask: UInt64
    ) {
        self.flags = flags & Self.recoveryFlags
        self.base = base
        self.timestamp = timestamp
        self.length = length
        self.protectionLength = protectionLength
        self.mask = mask & (1 << UInt64(Self.maximumPackets) - 1)
    }

    private var hasLongMask: Bool { mask >> UInt64(Self.shortMask) != 0 }

    /// The number of bytes that ``write(to:)`` writes.
    package var byteCount: Int { hasLongMask ? 18 : 14 }

    /// The protected packets, in ascending order.
    package var numbers: some Sequence<SequenceNumber> {
        (0..<Self.maximumPackets).lazy.filter { mask >> UInt64($0) & 1 == 1 }.map { base.advanced(by: $0) }
    }

    /// Parses the header at the start of a ULPFEC payload, and returns its size in bytes. ``protectionLength`` bytes
    /// follow the header. The mask can be longer than necessary.
    package static func parse(_ payload: RawSpan) throws(RTPError) -> (header: ULPFECHeader, byteCount: Int) {
        var reader = FieldReader(payload)
        let first = try reader.uint16(.fecHeader)
        // E announces an extension of the header, which no document defines.
        guard first & 0x8000 == 0 else { throw .invalid(.fecHeader, offset: 0) }
        let base = SequenceNumber(try reader.uint16(.fecHeader))
        let timestamp = try reader.uint32(.fecHeader)
        let length = try reader.uint16(.fecHeader)
        let protectionLength = try reader.uint16(.fecLevelHeader)
        let short = try reader.uint16(.fecLevelHeader)
        var wire = UInt64(short) << 32
        if first & longMaskFlag != 0 { wire |= UInt64(try reader.uint32(.fecLevelHeader)) }
        // On the wire the highest bit represents the base.
        let mask = wire.bitReversed >> 16
        guard mask != 0 else { throw .invalid(.fecLevelHeader, offset: 12) }
        guard reader.remaining >= Int(protectionLength) else {
            throw .truncated(.fecLevelHeader, offset: reader.offset)
        }
        let header = ULPFECHeader(
            flags: first, base: base, timestamp: timestamp, length: length, protectionLength: protectionLength,
            mask: mask)
        return (header, reader.offset)
    }

    /// Writes the header with the shorter mask if that suffices.
    package func write(to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(flags | (hasLongMask ? Self.longMaskFlag : 0))
        try writer.write(base.rawValue)
        try writer.write(timestamp)
        try writer.write(length)
        try writer.write(protectionLength)
        let wire = (mask << 16).bitReversed
        try writer.write(UInt16(truncatingIfNeeded: wire >> 32))
        if hasLongMask { try writer.write(UInt32(truncatingIfNeeded: wire)) }
    }
}

extension UInt64 {
    /// The bits in reverse order.
    fileprivate var bitReversed: UInt64 {
        var value = self
        var reversed: UInt64 = 0
        for _ in 0..<64 {
            reversed = reversed << 1 | value & 1
            value >>= 1
        }
        return reversed
    }
}
