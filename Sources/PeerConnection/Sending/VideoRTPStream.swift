internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The RTP stream of one video source: writes its packets, and keeps what it takes to write them again.
struct VideoRTPStream {
    /// A packet as it was sent, so that it can be sent again.
    ///
    /// A room has thousands of histories of hundreds of packets, so that it is small.
    struct SentPacket: Sendable {
        let frame: PacketizedFrame
        /// The extensions that few packets have; nil for none.
        private let rest: Rest?
        private let absoluteSendTime: AbsoluteSendTime
        private let fragmentIndex: UInt16
        private let transportSequenceNumber: TransportSequenceNumber
        let numberOffset: VP8NumberOffset
        /// Under which of the stream's agreements it was first written; see ``VideoRTPStream/canWrite(_:)``.
        let generation: UInt16
        /// Which of both it bears. Beside the numbers and not in them, they fill up what is left of 32 bytes.
        private let hasSendTime: Bool
        private let hasNumber: Bool

        private final class Rest: Sendable {
            let extensions: HeaderExtensions

            init(_ extensions: HeaderExtensions) { self.extensions = extensions }
        }

        init(
            frame: PacketizedFrame, fragment: Int, extensions: HeaderExtensions,
            numberOffset: VP8NumberOffset = .none, generation: UInt16 = 0
        ) {
            self.frame = frame
            self.numberOffset = numberOffset
            fragmentIndex = UInt16(clamping: fragment)
            absoluteSendTime = extensions.absoluteSendTime ?? AbsoluteSendTime(0)
            transportSequenceNumber = extensions.transportSequenceNumber ?? TransportSequenceNumber(0)
            hasSendTime = extensions.absoluteSendTime != nil
            hasNumber = extensions.transportSequenceNumber != nil
            self.generation = generation
            let isUsual =
                extensions.mediaIdentification == nil && extensions.videoOrientation == nil
                && extensions.playoutDelay == nil && extensions.videoContentType == nil
            rest = isUsual ? nil : Rest(extensions)
        }

        var fragment: Int { Int(fragmentIndex) }

        /// The extensions of the first transmission. Without RTX a packet is sent again under the same sequence number,
        /// which SRTP allows only for the very same bytes (RFC 3711 §9.1).
        var extensions: HeaderExtensions {
            if let rest { return rest.extensions }
            var extensions = HeaderExtensions()
            extensions.absoluteSendTime = hasSendTime ? absoluteSendTime : nil
            extensions.transportSequenceNumber = hasNumber ? transportSequenceNumber : nil
            return extensions
        }
    }

    var stream: OutgoingStream
    var keyFrameRequests = KeyFrameRequests()
    var lastIntraRequest: UInt8?
    /// Whether sound of the same media stream is sent: the receiver must have leave to hold pictures back for it.
    var isWithSound = false
    /// The playout delay that was told last.
    private var sentPlayoutDelay: PlayoutDelay?
    /// Forward error correction; nil where the peer takes none.
    var protection: FrameProtection?
    var retransmissionSequenceNumber: SequenceNumber
    var history: RetransmissionHistory<SentPacket>
    /// The media clock of the newest packet.
    var newestTimestamp: RTPTimestamp?
    /// Grows with each description by which packets are written otherwise than before.
    private var generation: UInt16 = 0
    /// Retransmissions that wait in the pacer.
    var queuedRetransmissions = 0
    /// Retransmissions that leave once more with the next frame, for they are as likely to be lost as anything else, and
    /// when they left.
    var repetitions: [(number: SequenceNumber, sent: Instant)] = []
    private var hasSentKeyFrame = false
    private var numbering = PictureNumbering()
    /// The orientation that the peer was told last.
    private var sentQuarterTurns = 0

    /// A stream whose history holds what `maximumBitrate` makes.
    init(
        parameters: OutgoingStream.Parameters, maximumBitrate: DataRate = .kilobitsPerSecond(2500),
        random: inout some RandomNumberGenerator
    ) {
        history = RetransmissionHistory(capacity: RetransmissionHistory<SentPacket>.capacity(for: maximumBitrate))
        stream = OutgoingStream(parameters: parameters, clockRate: PacketizedFrame.clockRate, random: &random)
        retransmissionSequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        protection = parameters.forwardErrorCorrection.map { FrameProtection($0, resuming: nil) }
    }

    /// Takes what a later description says.
    mutating func update(_ parameters: OutgoingStream.Parameters) {
        let isWrittenAlike =
            parameters.payloadType == stream.parameters.payloadType
            && parameters.extensions == stream.parameters.extensions
            && parameters.forwardErrorCorrection == stream.parameters.forwardErrorCorrection
        if !isWrittenAlike { generation &+= 1 }
        if parameters.forwardErrorCorrection != stream.parameters.forwardErrorCorrection {
            protection = parameters.forwardErrorCorrection.map { FrameProtection($0, resuming: protection) }
        }
        stream.parameters = parameters
    }

    /// Whether a packet can be sent again as things stand. Over RTX it has a number of its own; without, one that was
    /// written otherwise than it would be now must not follow under its old number, which would have SRTP encrypt two
    /// packets with one key stream.
    func canWrite(_ packet: SentPacket) -> Bool {
        stream.parameters.retransmission != nil || packet.generation == generation
    }

    /// Begins again after a pause, in which the peer has seen nothing: with a key frame.
    mutating func resume() {
        stream.resume()
        hasSentKeyFrame = false
        keyFrameRequests.request()
    }

    /// Queues a frame's packets; false where the frame can't be decoded by the peer, who has seen no key frame yet, or
    /// none of this encoder.
    mutating func enqueue(
        _ frame: PacketizedFrame, as media: Int, to pacer: inout Pacer<PacedPacket>, now: Instant
    ) -> Bool {
        guard frame.isKeyFrame || hasSentKeyFrame, numbering.follows(frame) else { return false }
        hasSentKeyFrame = true
        stream.statistics.count(frame)
        repeatRetransmissions(as: media, to: &pacer, now: now)
        let (group, corrections, correctionByteCount) = protection?.corrections(for: frame, now: now) ?? (.none, 0, 0)
        for fragment in 0..<frame.fragmentCount {
            pacer.enqueue(
                .picture(frame, media: UInt32(media), fragment: UInt16(clamping: fragment), group: group),
                size: frame.payloadByteCount(at: fragment) + RTPHeader.fixedByteCount, priority: .video, now: now)
        }
        // Behind the picture, and before the next: receivers put together what has numbers without a gap.
        for index in 0..<corrections {
            pacer.enqueue(
                .correction(media: UInt32(media), index: UInt8(clamping: index)),
                size: correctionByteCount + RTPHeader.fixedByteCount, priority: .video, now: now)
        }
        return true
    }

    /// Has the history hold what a higher rate makes.
    mutating func allow(maximumBitrate: DataRate) {
        history.allow(capacity: RetransmissionHistory<SentPacket>.capacity(for: maximumBitrate))
    }

    /// Writes a frame's packet that leaves now. `group`: what the frame is corrected with.
    mutating func writeMedia(
        _ frame: PacketizedFrame, fragment: Int, group: CorrectionGroup = .none, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        if frame.isLastFragment(fragment) {
            // 3GPP TS 26.114 §7.4.5 has it told with key frames and changes; libwebrtc takes a frame without for upright.
            if frame.isKeyFrame || frame.quarterTurns != 0 || frame.quarterTurns != sentQuarterTurns {
                extensions.videoOrientation = VideoOrientation(quarterTurns: frame.quarterTurns)
                sentQuarterTurns = frame.quarterTurns
            }
            // Kept from one frame to the next; key frames are where a receiver may begin.
            if frame.isKeyFrame, stream.parameters.isContent { extensions.videoContentType = .screenshare }
        }
        if fragment == 0 {
            let delay = playoutDelay
            if frame.isKeyFrame || delay != sentPlayoutDelay { extensions.playoutDelay = delay }
            sentPlayoutDelay = delay
            numbering.begin(frame)
        }
        let packet = SentPacket(
            frame: frame, fragment: fragment, extensions: extensions, numberOffset: numbering.offset,
            generation: generation)
        let start = writer.offset
        if group != .none, protection != nil, FrameProtection.protects(fragment, of: frame) {
            try writeProtected(packet, extensions, group: group, to: &writer)
        } else {
            try write(packet, extensions, sequenceNumber: stream.sequenceNumber, to: &writer)
        }
        let payloadByteCount = frame.payloadByteCount(at: fragment)
        newestTimestamp = frame.timestamp(offset: stream.timestampOffset)
        history.insert(stream.sequenceNumber, packet, size: writer.offset - start, now: now)
        stream.advance(payload: payloadByteCount, header: writer.offset - start - payloadByteCount)
    }

    /// A screen is looked at and pointed at: whoever shows it shows it at once, but for what is lost on the way. With sound,
    /// the two together are worth more, and the receiver is left to hold pictures until their sound is heard.
    private var playoutDelay: PlayoutDelay {
        let hold = protection?.policy.hold ?? .zero
        return PlayoutDelay(minimum: hold, maximum: isWithSound ? .seconds(10) : hold)
    }

    func write(
        _ packet: SentPacket, _ extensions: HeaderExtensions, sequenceNumber: SequenceNumber,
        to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        try header(of: packet, extensions, payloadType: stream.parameters.payloadType, sequenceNumber: sequenceNumber)
            .write(to: &writer, map: stream.parameters.extensions)
        try packet.frame.writePayload(at: packet.fragment, numberOffset: packet.numberOffset, to: &writer)
    }

    private func header(
        of packet: SentPacket, _ extensions: HeaderExtensions, payloadType: PayloadType, sequenceNumber: SequenceNumber
    ) -> OutgoingRTPHeader {
        OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: payloadType,
            sequenceNumber: sequenceNumber, timestamp: packet.frame.timestamp(offset: stream.timestampOffset),
            source: stream.source, extensions: extensions)
    }

    /// Writes a packet for the first time in RED, from which alone libwebrtc's receiver corrects others, and puts it into
    /// the corrections of its group. It is only ever sent again over RTX, and there without RED.
    private mutating func writeProtected(
        _ packet: SentPacket, _ extensions: HeaderExtensions, group: CorrectionGroup, to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        guard let types = protection?.payloadTypes else { return }
        let start = writer.offset
        let payloadType = stream.parameters.payloadType
        try header(of: packet, extensions, payloadType: types.red, sequenceNumber: stream.sequenceNumber)
            .write(to: &writer, map: stream.parameters.extensions)
        let headerEnd = writer.offset
        try REDPayload.writeHeader(payloadType, to: &writer)
        let payloadStart = writer.offset
        try packet.frame.writePayload(at: packet.fragment, numberOffset: packet.numberOffset, to: &writer)
        if case .begun(let corrections) = group,
            packet.fragment == FrameProtection.firstProtected(of: packet.frame)
        {
            protection?.encoder.begin(corrections: Int(corrections))
        }
        let end = writer.offset
        protection?.encoder.add(
            header: writer.written.extracting(start..<headerEnd), payloadType: payloadType,
            payload: writer.written.extracting(payloadStart..<end))
    }
}
