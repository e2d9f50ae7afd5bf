package import RTCShareWireFormat

/// The payload of a RED packet with one block (RFC 2198 §3): a byte with the block's payload type, then the block. RED
/// carries media packets and their ULPFEC packets in one stream (RFC 5109 §14.1).
package enum REDPayload {
    /// The number of bytes before the block.
    package static let headerByteCount = 1

    /// Writes the header of a packet's only block. The block must follow.
    package static func writeHeader(_ type: PayloadType, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(type.rawValue)
    }

    /// Returns the payload type of the block, which starts after ``headerByteCount`` bytes. Only audio uses several
    /// blocks in a packet; libwebrtc does not accept them for video either.
    package static func blockPayloadType(of payload: RawSpan) throws(RTPError) -> PayloadType {
        var reader = FieldReader(payload)
        let first = try reader.uint8(.redHeader)
        guard first & 0x80 == 0 else { throw .invalid(.redHeader, offset: 0) }
        return PayloadType(masking: first)
    }
}
