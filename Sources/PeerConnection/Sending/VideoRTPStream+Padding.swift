internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

extension VideoRTPStream {
    /// The number of padding bytes in a packet, of at most 255 (RFC 3550 §5.1). Fewer are not worth their headers, and
    /// receivers that read an original sequence number from every packet of RTX need two: Janus before 1.4.1 writes
    /// outside of the packet if there is only one byte.
    static var paddingRange: ClosedRange<Int> { 32...255 }
    /// The maximum ratio of a packet's size to the required padding, if the packet is retransmitted as padding.
    private static var largestExcess: Int { 3 }

    /// Whether padding can be sent: only over RTX, whose sequence numbers the receiver does not require, and after
    /// media, which identifies the source.
    var canPad: Bool {
        stream.parameters.retransmissionSource != nil && newestTimestamp != nil
    }

    /// Writes a packet of about `wanted` bytes: usually the repetition of a recent packet (RFC 4588), which can repair
    /// a loss, otherwise a packet of padding only. Returns false if neither can be sent.
    mutating func writePadding(
        _ wanted: Int, to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) -> Bool {
        guard let source = stream.parameters.retransmissionSource, let newestTimestamp,
            let payloadType = stream.parameters.formats.lazy.compactMap(\.retransmission).first
        else { return false }
        if let (number, packet) = history.nextForPadding(now: now),
            stream.parameters.retransmission(of: packet.frame) != nil
        {
            let size = packet.payloadByteCount
            if size > 0, size / Self.largestExcess <= wanted {
                try writeRetransmission(
                    of: packet, sequenceNumber: number, to: &writer,
                    transportSequenceNumber: &transportSequenceNumber, now: now)
                return true
            }
        }
        let start = writer.offset
        var header = OutgoingRTPHeader(
            marker: false, payloadType: payloadType, sequenceNumber: retransmissionSequenceNumber,
            timestamp: newestTimestamp, source: source,
            extensions: stream.stampedExtensions(&transportSequenceNumber, now: now))
        header.extensions.identifyRetransmission(of: stream.parameters)
        header.hasPadding = true
        try header.write(to: &writer, map: stream.parameters.extensions)
        try writer.writePadding(min(max(Self.paddingRange.lowerBound, wanted), Self.paddingRange.upperBound))
        retransmissionSequenceNumber = retransmissionSequenceNumber.next
        stream.statistics.countPadding(writer.offset - start)
        return true
    }

    /// The silence after which a layer of a simulcast is kept alive: less than Janus' default of 250 ms, after which it
    /// shows a lower one (`fallback` of a subscription).
    private static var longestSilence: Duration { .milliseconds(200) }

    /// Queues a packet of padding if this layer has sent frames, but not for a while.
    mutating func enqueueKeepalive(as media: Int, to pacer: inout Pacer<PacedPacket>, now: Instant) {
        guard let newestSend, newestSend.duration(to: now) > Self.longestSilence, layerQueue?.isEmpty != false
        else { return }
        self.newestSend = now
        pacer.enqueue(
            .keepalive(media: UInt32(media)), size: Self.paddingRange.lowerBound + RTPHeader.fixedByteCount,
            priority: .video, now: now)
    }

    /// Writes a packet of padding with the next sequence number of the source. The history contains it: a receiver that
    /// lacks it requests it, and a viewer of frames without numbers waits for it, since it could be part of a frame.
    mutating func writeKeepalive(
        to writer: inout ByteWriter, transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        guard let frame = history.newestPacket?.frame else { return }
        try writeMedia(
            frame, fragment: frame.fragmentCount, to: &writer, transportSequenceNumber: &transportSequenceNumber,
            now: now)
    }
}
