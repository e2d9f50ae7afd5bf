package import RTCShareWireFormat

/// The payload of a retransmission packet: the original sequence number, then the original payload (RFC 4588 §4).
package enum RetransmissionPayload {
    /// Bytes before the original payload.
    package static let prefixByteCount = 2

    /// Writes the original sequence number; the original payload is to follow.
    package static func writePrefix(_ original: SequenceNumber, to writer: inout ByteWriter) throws(EndOfBytes) {
        try writer.write(original.rawValue)
    }

    /// The original sequence number of a payload; the original payload stands after ``prefixByteCount`` bytes. A
    /// packet of nothing but padding, as bandwidth probes are, has an empty payload: that is nil.
    package static func originalSequenceNumber(of payload: RawSpan) throws(RTPError) -> SequenceNumber? {
        guard payload.byteCount > 0 else { return nil }
        var reader = FieldReader(payload)
        return SequenceNumber(try reader.uint16(.originalSequenceNumber))
    }
}
