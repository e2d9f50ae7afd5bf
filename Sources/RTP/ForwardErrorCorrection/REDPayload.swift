package import RTCShareWireFormat

/// The payload of a RED packet with one block (RFC 2198 §3), as which packets and their ULPFEC go in one stream (RFC 5109
/// §14.1): a byte with the payload type of the block, then the block.
package enum REDPayload {
    /// Bytes before the block.
    package static let headerByteCount = 1

    /// Writes the header of a packet's only block, which is to follow.
    package static func writeHeader(_ type: PayloadType, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(type.rawValue)
    }

    /// The payload type of the block, which stands after ``headerByteCount`` bytes. Several blocks in a packet are what
    /// sound has; of pictures nobody sends them, and libwebrtc takes none either.
    package static func blockPayloadType(of payload: RawSpan) throws(RTPError) -> PayloadType {
        var reader = FieldReader(payload)
        let first = try reader.uint8(.redHeader)
        guard first & 0x80 == 0 else { throw .invalid(.redHeader, offset: 0) }
        return PayloadType(masking: first)
    }
}
