import RTCShareWireFormat

/// The header of a received RTP packet (RFC 3550 §5.1), with the places of what surrounds the payload.
///
/// The value holds ranges of the packet that it was parsed from and no bytes of it, so parsing allocates nothing.
package struct RTPHeader: Hashable, Sendable {
    /// The marker bit: for video, the last packet of a frame.
    package let marker: Bool
    /// What the payload is.
    package let payloadType: PayloadType
    /// The place of the packet in its stream.
    package let sequenceNumber: SequenceNumber
    /// The media clock at the payload's first sample.
    package let timestamp: RTPTimestamp
    /// The stream that the packet belongs to.
    package let source: SynchronizationSource
    /// How many contributing sources the packet names, at most 15.
    package let contributingSourceCount: Int
    /// The "defined by profile" field of the header extension: which form it has. Zero where there is none.
    package let extensionProfile: UInt16
    /// Where the header extension's elements are in the packet, without its four leading bytes; empty where there is none.
    package let extensionRange: Range<Int>
    /// Where the payload is in the packet, padding left aside.
    package let payloadRange: Range<Int>
    /// Padding bytes after the payload, the count among them.
    package let paddingByteCount: Int

    /// Bytes from the start of the packet to its payload.
    package var byteCount: Int { payloadRange.lowerBound }

    /// Bytes of the fixed header.
    package static let fixedByteCount = 12

    /// Reads the header of `packet`, which is a whole RTP packet, decrypted.
    package init(parsing packet: RawSpan) throws(RTPError) {
        try self.init(packet, isProtected: false)
    }

    /// Reads the header of `packet`, which SRTP still protects: whether its payload ends in padding can't be seen.
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

    /// The contributing sources of the packet that this header was parsed from.
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

    /// The payload of the packet that this header was parsed from, borrowed; empty where `packet` is shorter than that.
    @_lifetime(copy packet)
    package func payload(of packet: RawSpan) -> RawSpan {
        let range = payloadRange.clamped(to: 0..<packet.byteCount)
        return packet.extracting(range)
    }
}
