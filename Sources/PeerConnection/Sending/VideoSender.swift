internal import CongestionControl
internal import RTP
internal import WireFormat

/// A packet that waits for its turn: what it will hold, not its bytes.
enum PacedPacket: Sendable {
    /// A piece of a frame, sent for the first time by the sender at this index.
    case media(sender: Int, frame: PacketizedFrame, fragment: Int)
    /// A packet that the receiver missed.
    case retransmission(sender: Int, sequenceNumber: SequenceNumber, packet: VideoSender.SentPacket)
}

/// Sends one video source: numbers its packets, writes them, and keeps what it takes to write them again.
///
/// Sequence numbers are given where a packet leaves, so that one that never leaves makes no gap.
struct VideoSender {
    /// What the two descriptions agreed on for this media section.
    struct Parameters: Sendable {
        let mid: String
        let source: SynchronizationSource
        let payloadType: PayloadType
        /// Source and payload type of retransmissions (RFC 4588); nil where the peer took none.
        let retransmission: (source: SynchronizationSource, payloadType: PayloadType)?
        let extensions: HeaderExtensionMap
        let isContent: Bool
    }

    /// A packet as it was sent, so that it can be sent again.
    struct SentPacket: Sendable {
        let frame: PacketizedFrame
        let fragment: Int
        /// The extensions of the first transmission. Without RTX a packet is sent again under the same sequence number,
        /// which SRTP allows only for the very same bytes (RFC 3711 §9.1).
        let extensions: HeaderExtensions
    }

    let parameters: Parameters
    var statistics = OutboundStatistics()
    var reports = ReceiverReportTracker(clockRate: PacketizedFrame.clockRate)
    private var sequenceNumber: SequenceNumber
    private var retransmissionSequenceNumber: SequenceNumber
    private let timestampOffset: RTPTimestamp
    private var history = RetransmissionHistory<SentPacket>()
    /// The peer knows which section a source belongs to once it reports on it; until then every packet says so.
    var isSourceKnown = false
    var lastIntraRequest: UInt8?
    /// Retransmissions that wait in the pacer.
    private var queuedRetransmissions = 0
    private var hasSentKeyFrame = false

    init(parameters: Parameters, random: inout some RandomNumberGenerator) {
        self.parameters = parameters
        // Below half the circle, as libsrtp2's guess of the rollover counter wants it of a first packet (RFC 3711 §3.3.1).
        sequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        retransmissionSequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        timestampOffset = RTPTimestamp(random.next())
    }

    /// The media clock's reading at an instant, for sender reports.
    func timestamp(at now: Instant) -> RTPTimestamp {
        RTPTimestamp(
            mediaTime: .nanoseconds(now.nanoseconds), clockRate: PacketizedFrame.clockRate, offset: timestampOffset)
    }

    /// Queues a frame's packets; false where the frame can't be decoded by the peer, who has seen no key frame yet.
    mutating func enqueue(
        _ frame: PacketizedFrame, as index: Int, to pacer: inout Pacer<PacedPacket>, now: Instant
    ) -> Bool {
        guard frame.isKeyFrame || hasSentKeyFrame else { return false }
        hasSentKeyFrame = true
        statistics.count(frame)
        for fragment in 0..<frame.fragmentCount {
            pacer.enqueue(
                .media(sender: index, frame: frame, fragment: fragment),
                size: frame.payloadByteCount(at: fragment) + RTPHeader.fixedByteCount, priority: .video, now: now)
        }
        return true
    }

    /// The most retransmissions that wait: what a peer asks for, and asks for again, stays bounded.
    static var maximumQueuedRetransmissions: Int { 1024 }
    /// A packet is not sent again within this time, however short the round trip.
    static var minimumRetransmissionInterval: Duration { .milliseconds(10) }

    /// Queues again what a NACK names and the history still holds.
    mutating func retransmit(
        _ sequenceNumbers: some Sequence<SequenceNumber>, as index: Int, to pacer: inout Pacer<PacedPacket>,
        roundTripTime: Duration, now: Instant
    ) {
        statistics.nackCount += 1
        for number in sequenceNumbers {
            guard queuedRetransmissions < Self.maximumQueuedRetransmissions else { return }
            let pause = max(roundTripTime, Self.minimumRetransmissionInterval)
            guard let packet = history.lookup(number, now: now, roundTripTime: pause) else { continue }
            queuedRetransmissions += 1
            pacer.enqueue(
                .retransmission(sender: index, sequenceNumber: number, packet: packet),
                size: packet.frame.payloadByteCount(at: packet.fragment) + RTPHeader.fixedByteCount,
                priority: .retransmission, now: now)
        }
    }

    /// Writes a frame's packet that leaves now.
    mutating func writeMedia(
        _ frame: PacketizedFrame, fragment: Int, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        var extensions = HeaderExtensions()
        stamp(&extensions, &transportSequenceNumber, now: now)
        if !isSourceKnown { extensions.mediaIdentification = parameters.mid }
        // A receiver keeps these from one frame to the next; key frames are where it may begin.
        if frame.isKeyFrame, frame.isLastFragment(fragment) {
            extensions.videoOrientation = VideoOrientation(quarterTurns: frame.quarterTurns)
            if parameters.isContent { extensions.videoContentType = .screenshare }
        }
        // A screen is looked at and pointed at: whoever shows it shows it at once.
        if frame.isKeyFrame, fragment == 0 { extensions.playoutDelay = PlayoutDelay(minimum: .zero, maximum: .zero) }

        let packet = SentPacket(frame: frame, fragment: fragment, extensions: extensions)
        let start = writer.offset
        try write(packet, sequenceNumber: sequenceNumber, to: &writer)
        let payloadByteCount = frame.payloadByteCount(at: fragment)
        statistics.countPacket(payload: payloadByteCount, header: writer.offset - start - payloadByteCount)
        history.insert(sequenceNumber, packet, size: writer.offset - start, now: now)
        sequenceNumber = sequenceNumber.next
    }

    /// Writes a packet once more, over RTX where the peer took it (RFC 4588 §4).
    mutating func writeRetransmission(
        of packet: SentPacket, sequenceNumber number: SequenceNumber, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        queuedRetransmissions = max(0, queuedRetransmissions - 1)
        let payloadByteCount = packet.frame.payloadByteCount(at: packet.fragment)
        statistics.countRetransmission(payload: payloadByteCount)
        guard let retransmission = parameters.retransmission else {
            return try write(packet, sequenceNumber: number, to: &writer)
        }
        var extensions = HeaderExtensions()
        stamp(&extensions, &transportSequenceNumber, now: now)
        if !isSourceKnown { extensions.mediaIdentification = parameters.mid }
        let header = OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: retransmission.payloadType,
            sequenceNumber: retransmissionSequenceNumber, timestamp: packet.frame.timestamp(offset: timestampOffset),
            source: retransmission.source, extensions: extensions)
        try header.write(to: &writer, map: parameters.extensions)
        try RetransmissionPayload.writePrefix(number, to: &writer)
        try packet.frame.writePayload(at: packet.fragment, to: &writer)
        retransmissionSequenceNumber = retransmissionSequenceNumber.next
    }

    private func write(_ packet: SentPacket, sequenceNumber: SequenceNumber, to writer: inout ByteWriter)
        throws(EndOfBytes)
    {
        let header = OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: parameters.payloadType,
            sequenceNumber: sequenceNumber, timestamp: packet.frame.timestamp(offset: timestampOffset),
            source: parameters.source, extensions: packet.extensions)
        try header.write(to: &writer, map: parameters.extensions)
        try packet.frame.writePayload(at: packet.fragment, to: &writer)
    }

    private func stamp(
        _ extensions: inout HeaderExtensions, _ transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) {
        extensions.absoluteSendTime = AbsoluteSendTime(now)
        guard parameters.extensions[.transportSequenceNumber] != nil else { return }
        extensions.transportSequenceNumber = transportSequenceNumber
        transportSequenceNumber = transportSequenceNumber.next
    }
}
