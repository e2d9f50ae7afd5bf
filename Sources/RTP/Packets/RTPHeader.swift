import RTCShareWireFormat

/// The header of a received RTP packet (RFC 3550 §5.1), with the ranges of the packet's other parts.
///
/// The value contains ranges of the packet and no bytes of it, so that parsing allocates nothing.
package struct RTPHeader: Hashable, Sendable {
    /// The marker bit: for video, the last packet of a frame.
    package let marker: Bool
    /// The payload type.
    package let payloadType: PayloadType
    /// The position of the packet in its stream.
    package let sequenceNumber: SequenceNumber
    /// The time of the payload's first sample on the media clock.
    package let timestamp: RTPTimestamp
    /// The stream that the packet belongs to.
    package let source: SynchronizationSource
    /// The number of contributing sources in the packet, at most 15.
    package let contributingSourceCount: Int
    /// The "defined by profile" field of the header extension, which identifies its form; zero if there is no
    /// extension.
    package let extensionProfile: UInt16
    /// The range of the header extension's elements in the packet, without its four leading bytes; empty if there is
    /// none.
    package let extensionRange: Range<Int>
    /// The range of the payload in the packet, without padding.
    package let payloadRange: Range<Int>
    /// The number of padding bytes after the payload, including the count.
    package let paddingByteCount: Int

    /// The number of bytes before the payload.
    package var byteCount: Int { payloadRange.lowerBound }

    /// The number of bytes of the fixed header.
    package static let fixedByteCount = 12

    /// Parses the header of `packet`, a whole decrypted RTP packet.
    package init(parsing packet: RawSpan) throws(RTPError) {
        try self.init(packet, isProtected: false)
    }

    /// Parses the header of `packet`, which is still encrypted, so that its padding is not visible.
    package init(protected packet: RawSpan) throws(RTPError) {
        try self.init(packet, isProtected: true)
    }

    private init(_ packet: RawSpan, isProtected: Bool) throws(RTPError) {
        var reader = FieldReader(packet)
        guard packet.byteCount >= Self.fixedByteCount else {
            throw .truncated(.header, offset: 0)
        }
        let first = try reader.uint8(.header)
        guard first >> 6 == 2 else { throw .invalid(.version, offset: 0) }
        let second = try reader.uint8(.header)
        marker = second & 0x80 != 0
        payloadType = PayloadType(masking: second)
        sequenceNumber = SequenceNumber(try reader.uint16(.header))
        timestamp = RTPTimestamp(try reader.uint32(.header))
        source = try reader.source(.header)
        contributingSourceCount = Int(first & 0x0F)
        try reader.skip(contributingSourceCount * 4, .contributingSources)
        if first & 0x10 != 0 {
            extensionProfile = try reader.uint16(.headerExtension)
            let count = Int(try reader.uint16(.headerExtension)) * 4
            let start = reader.offset
            try reader.skip(count, .headerExtension)
            extensionRange = start..<start + count
        } else {
            extensionProfile = 0
            extensionRange = reader.offset..<reader.offset
        }
        let start = reader.offset
        if first & 0x20 != 0, !isProtected {
            let last = packet.byteCount - 1
            guard reader.remaining > 0 else { throw .truncated(.padding, offset: start) }
            let count = Int(packet.unsafeLoadUnaligned(fromByteOffset: last, as: UInt8.self))
            guard count > 0, count <= reader.remaining else { throw .invalid(.padding, offset: last) }
            paddingByteCount = count
        } else {
            paddingByteCount = 0
        }
        payloadRange = start..<packet.byteCount - paddingByteCount
    }

    /// Returns the contributing sources in the packet from which this header was parsed.
    package func contributingSources(in packet: RawSpan) -> [SynchronizationSource] {
        var reader = ByteReader(packet)
        var sources: [SynchronizationSource] = []
        do {
            try reader.skip(Self.fixedByteCount)
            for _ in 0..<contributingSourceCount { sources.append(SynchronizationSource(try reader.readUInt32())) }
        } catch {
            return sources
        }
        return sources
    }

    /// Returns the payload of the packet from which this header was parsed, borrowed. It is empty if `packet` is
    /// shorter.
    @_lifetime(copy packet)
    package func payload(of packet: RawSpan) -> RawSpan {
        let range = payloadRange.clamped(to: 0..<packet.byteCount)
        return packet.extracting(range)
    }
}
