package import RTCShareWireFormat

/// The payload of a retransmission packet: the original sequence number, then the original payload (RFC 4588 §4).
package enum RetransmissionPayload {
    /// The number of bytes before the original payload.
    package static let prefixByteCount = 2

    /// Writes the original sequence number. The original payload must follow.
    package static func writePrefix(_ original: SequenceNumber, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(original.rawValue)
    }

    /// Returns the original sequence number in a payload. The original payload starts after ``prefixByteCount`` bytes.
    /// Returns nil for an empty payload: that is a packet of padding only, such as a bandwidth probe.
    package static func originalSequenceNumber(of payload: RawSpan) throws(RTPError) -> SequenceNumber? {
        guard payload.byteCount > 0 else { return nil }
        var reader = FieldReader(payload)
        return SequenceNumber(try reader.uint16(.originalSequenceNumber))
    }
}
