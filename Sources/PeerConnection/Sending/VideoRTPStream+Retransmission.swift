internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// Retransmissions (RFC 4585 §6.2.1), over RTX (RFC 4588) if the peer accepts it.
extension VideoRTPStream {
    /// The maximum number of queued retransmissions, which limits the effect of repeated requests.
    static var maximumQueuedRetransmissions: Int { 1024 }
    /// The minimum interval of a packet's retransmissions, however short the round-trip time is.
    static var minimumRetransmissionInterval: Duration { .milliseconds(10) }

    /// Queues the packets in a NACK that the history still contains.
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
            size: packet.payloadByteCount + RTPHeader.fixedByteCount,
            priority: .retransmission, now: now)
    }

    /// Queues the retransmissions since the previous frame once more. Packets that were sent a round trip ago are
    /// requested again if they are still missing.
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

    /// Records that a retransmission has left the pacer. Returns false if it can't be written any more.
    mutating func dequeue(_ sequenceNumber: SequenceNumber, isRepetition: Bool, now: Instant) -> Bool {
        queuedRetransmissions -= 1
        if !isRepetition {
            // A repetition does not delay the answer to the next request.
            history.didRetransmit(sequenceNumber, now: now)
            if protection?.policy.repeatsRetransmissions == true { repetitions.append((sequenceNumber, now)) }
        }
        return history.packet(sequenceNumber).map { canRepeat($0, sequenceNumber) } ?? false
    }

    /// Whether a packet can be retransmitted. With its original number, SRTP accepts it only within the replay window,
    /// here and at the peer.
    private func canRepeat(_ packet: SentPacket, _ number: SequenceNumber) -> Bool {
        let isWithinWindow = stream.sequenceNumber.distance(from: number) <= SRTPSender.replayWindow
        return canWrite(packet) && (isWithinWindow || stream.parameters.retransmission(of: packet.frame) != nil)
    }

    /// Writes a retransmission, over RTX if the peer accepts it (RFC 4588 §4).
    mutating func writeRetransmission(
        of packet: SentPacket, sequenceNumber number: SequenceNumber, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        let start = writer.offset
        let retransmission = stream.parameters.retransmission(of: packet.frame)
        if let retransmission {
            try writeOverRTX(
                packet, number: number, retransmission, to: &writer, transportSequenceNumber: &transportSequenceNumber,
                now: now)
        } else if let payloadType = stream.parameters.format(of: packet.frame)?.payloadType {
            try write(packet, packet.extensions, payloadType: payloadType, sequenceNumber: number, to: &writer)
        }
        let payload = packet.payloadByteCount
        stream.statistics.countRetransmission(
            payload: payload, header: writer.offset - start - payload,
            hasOwnSource: retransmission != nil)
    }

    private mutating func writeOverRTX(
        _ packet: SentPacket, number: SequenceNumber,
        _ retransmission: (source: SynchronizationSource, payloadType: PayloadType), to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        // The extensions about the frame are repeated, with new time stamps.
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        let first = packet.extensions
        extensions.videoOrientation = first.videoOrientation
        extensions.videoContentType = first.videoContentType
        extensions.playoutDelay = first.playoutDelay
        extensions.dependencyDescriptor = packet.dependencyDescriptor
        extensions.identifyRetransmission(of: stream.parameters)
        var header = OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: retransmission.payloadType,
            sequenceNumber: retransmissionSequenceNumber,
            timestamp: packet.frame.timestamp(offset: stream.timestampOffset),
            source: retransmission.source, extensions: extensions)
        header.hasPadding = packet.isPadding
        try header.write(to: &writer, map: stream.parameters.extensions)
        try RetransmissionPayload.writePrefix(number, to: &writer)
        try packet.writePayload(to: &writer)
        retransmissionSequenceNumber = retransmissionSequenceNumber.next
    }
}

extension HeaderExtensions {
    /// Identifies a packet on the source of retransmissions. Each packet names its section: the peer's reports may omit
    /// the source, so that nothing shows that the peer knows it. Firefox ignores a source that a description names
    /// until a packet names its section. A name of more than 16 bytes is omitted, because the packet could become too
    /// large.
    mutating func identifyRetransmission(of parameters: OutgoingStream.Parameters) {
        mediaIdentification = (1...16).contains(parameters.mid.utf8.count) ? parameters.mid : nil
        streamIdentification = nil
        repairedStreamIdentification = parameters.layer
    }
}
