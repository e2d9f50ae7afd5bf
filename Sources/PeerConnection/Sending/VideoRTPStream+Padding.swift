internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

extension VideoRTPStream {
    /// The most padding that a packet can hold (RFC 3550 §5.1).
    private static var maximumPadding: Int { 255 }
    /// A packet is sent again as padding where it is no more than this many times what is wanted.
    private static var largestExcess: Int { 3 }

    /// Whether padding can be sent: over RTX only, whose numbers the receiver does not wait for, and after media, which
    /// tell what the source is.
    var canPad: Bool {
        stream.parameters.retransmission != nil && newestTimestamp != nil
    }

    /// Writes a packet that is to be no larger than it takes to send `wanted` bytes: mostly a packet sent lately once more
    /// (RFC 4588), which may make good a loss, else one that holds nothing but padding. False where neither can be sent.
    mutating func writePadding(
        _ wanted: Int, to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) -> Bool {
        guard canPad, let retransmission = stream.parameters.retransmission, let newestTimestamp else { return false }
        if let (number, packet) = history.nextForPadding(now: now) {
            let size = packet.frame.payloadByteCount(at: packet.fragment)
            if size > 0, size / Self.largestExcess <= wanted {
                try writeRetransmission(
                    of: packet, sequenceNumber: number, to: &writer,
                    transportSequenceNumber: &transportSequenceNumber, now: now)
                return true
            }
        }
        let start = writer.offset
        var header = OutgoingRTPHeader(
            marker: false, payloadType: retransmission.payloadType, sequenceNumber: retransmissionSequenceNumber,
            timestamp: newestTimestamp, source: retransmission.source,
            extensions: stream.stampedExtensions(&transportSequenceNumber, now: now))
        header.hasPadding = true
        try header.write(to: &writer, map: stream.parameters.extensions)
        try writer.writePadding(min(max(1, wanted), Self.maximumPadding))
        retransmissionSequenceNumber = retransmissionSequenceNumber.next
        stream.statistics.countPadding(writer.offset - start)
        return true
    }
}
