internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// What a receiver asks for again (RFC 4585 §6.2.1), and how it is sent once more: by RTX (RFC 4588) where the peer took that.
extension VideoRTPStream {
    /// The most retransmissions that wait: what a peer asks for, and asks for again, stays bounded.
    static var maximumQueuedRetransmissions: Int { 1024 }
    /// A packet is not sent again within this time, however short the round trip.
    static var minimumRetransmissionInterval: Duration { .milliseconds(10) }

    /// Queues again what a NACK names and the history still holds.
    mutating func retransmit(
        _ sequenceNumbers: some Sequence<SequenceNumber>, as media: Int, to pacer: inout Pacer<PacedPacket>,
        roundTripTime: Duration, now: Instant
    ) {
        stream.statistics.video.nackCount += 1
        for number in sequenceNumbers {
            guard queuedRetransmissions < Self.maximumQueuedRetransmissions else { return }
            let pause = max(roundTripTime, Self.minimumRetransmissionInterval)
            guard let packet = history.lookup(number, now: now, roundTripTime: pause), canRepeat(packet, number)
            else { continue }
            enqueue(packet, number: number, isRepetition: false, as: media, to: &pacer, now: now)
        }
    }

    private mutating func enqueue(
        _ packet: SentPacket, number: SequenceNumber, isRepetition: Bool, as media: Int,
        to pacer: inout Pacer<PacedPacket>, now: Instant
    ) {
        queuedRetransmissions += 1
        pacer.enqueue(
            .retransmission(media: UInt32(media), number, isRepetition: isRepetition),
            size: packet.frame.payloadByteCount(at: packet.fragment) + RTPHeader.fixedByteCount,
            priority: .retransmission, now: now)
    }

    /// Queues once more what was sent again since the frame before. What left a round trip ago is asked for again where it
    /// is still missing.
    mutating func repeatRetransmissions(as media: Int, to pacer: inout Pacer<PacedPacket>, now: Instant) {
        guard !repetitions.isEmpty else { return }
        let roundTripTime = protection?.policy.roundTripTime ?? .zero
        for (number, sent) in repetitions where now - sent < roundTripTime {
            guard queuedRetransmissions < Self.maximumQueuedRetransmissions else { break }
            guard let packet = history.packet(number), canRepeat(packet, number) else { continue }
            enqueue(packet, number: number, isRepetition: true, as: media, to: &pacer, now: now)
        }
        repetitions.removeAll(keepingCapacity: true)
    }

    /// Takes note that a retransmission has left the pacer; false where it can't be written any more.
    mutating func dequeue(_ sequenceNumber: SequenceNumber, isRepetition: Bool, now: Instant) -> Bool {
        queuedRetransmissions -= 1
        if !isRepetition {
            // A repetition does not put off the answer to the next request.
            history.didRetransmit(sequenceNumber, now: now)
            if protection?.policy.repeatsRetransmissions == true { repetitions.append((sequenceNumber, now)) }
        }
        return history.packet(sequenceNumber).map { canRepeat($0, sequenceNumber) } ?? false
    }

    /// Whether a packet can be sent once more. Under its old number SRTP lets it pass, here and at the peer, only as far
    /// back as replays can be told.
    private func canRepeat(_ packet: SentPacket, _ number: SequenceNumber) -> Bool {
        let isWithinWindow = stream.sequenceNumber.distance(from: number) <= SRTPSender.replayWindow
        return canWrite(packet) && (isWithinWindow || stream.parameters.retransmission != nil)
    }

    /// Writes a packet once more, over RTX where the peer took it (RFC 4588 §4).
    mutating func writeRetransmission(
        of packet: SentPacket, sequenceNumber number: SequenceNumber, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        let start = writer.offset
        if let retransmission = stream.parameters.retransmission {
            try writeOverRTX(
                packet, number: number, retransmission, to: &writer, transportSequenceNumber: &transportSequenceNumber,
                now: now)
        } else {
            try write(packet, packet.extensions, sequenceNumber: number, to: &writer)
        }
        let payload = packet.frame.payloadByteCount(at: packet.fragment)
        stream.statistics.countRetransmission(
            payload: payload, header: writer.offset - start - payload,
            hasOwnSource: stream.parameters.retransmission != nil)
    }

    private mutating func writeOverRTX(
        _ packet: SentPacket, number: SequenceNumber,
        _ retransmission: (source: SynchronizationSource, payloadType: PayloadType), to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        // What the packet said of its frame it says again, stamped anew.
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        let first = packet.extensions
        extensions.videoOrientation = first.videoOrientation
        extensions.videoContentType = first.videoContentType
        extensions.playoutDelay = first.playoutDelay
        let header = OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: retransmission.payloadType,
            sequenceNumber: retransmissionSequenceNumber,
            timestamp: packet.frame.timestamp(offset: stream.timestampOffset),
            source: retransmission.source, extensions: extensions)
        try header.write(to: &writer, map: stream.parameters.extensions)
        try RetransmissionPayload.writePrefix(number, to: &writer)
        try packet.frame.writePayload(at: packet.fragment, numberOffset: packet.numberOffset, to: &writer)
        retransmissionSequenceNumber = retransmissionSequenceNumber.next
    }
}
