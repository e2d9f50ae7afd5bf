internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The RTP stream of one video source, which writes its packets and stores them for retransmission.
struct VideoRTPStream {
    /// A sent packet, for retransmission.
    ///
    /// It is small, since a room has thousands of histories of hundreds of packets.
    struct SentPacket: Sendable {
        let frame: PacketizedFrame
        /// The extensions that few packets have; nil for none.
        private let rest: Rest?
        private let absoluteSendTime: AbsoluteSendTime
        private let fragmentIndex: UInt16
        private let transportSequenceNumber: TransportSequenceNumber
        /// The number under which the peer knows the frame.
        let number: FrameNumber
        /// The generation of the stream's parameters at the first transmission; see ``VideoRTPStream/canWrite(_:)``.
        let generation: UInt16
        /// Whether the packet has each of the two extensions. These are separate from the numbers, so that they fit
        /// into 32 bytes.
        private let hasSendTime: Bool
        private let hasNumber: Bool

        private final class Rest: Sendable {
            let extensions: HeaderExtensions

            init(_ extensions: HeaderExtensions) { self.extensions = extensions }
        }

        init(
            frame: PacketizedFrame, fragment: Int, extensions: HeaderExtensions, number: FrameNumber? = nil,
            generation: UInt16 = 0
        ) {
            self.frame = frame
            self.number = number ?? frame.number
            fragmentIndex = UInt16(clamping: fragment)
            absoluteSendTime = extensions.absoluteSendTime ?? AbsoluteSendTime(0)
            transportSequenceNumber = extensions.transportSequenceNumber ?? TransportSequenceNumber(0)
            hasSendTime = extensions.absoluteSendTime != nil
            hasNumber = extensions.transportSequenceNumber != nil
            self.generation = generation
            let isUsual =
                extensions.mediaIdentification == nil && extensions.streamIdentification == nil
                && extensions.videoOrientation == nil
                && extensions.playoutDelay == nil && extensions.videoContentType == nil
            rest = isUsual ? nil : Rest(extensions)
        }

        var fragment: Int { Int(fragmentIndex) }
        /// Whether the packet has only padding: the fragment after the frame's last.
        var isPadding: Bool { fragment >= frame.fragmentCount }
        /// The number of bytes of its payload, without padding.
        var payloadByteCount: Int { isPadding ? 0 : frame.payloadByteCount(at: fragment) }

        /// Writes its payload, or its padding.
        func writePayload(to writer: inout ByteWriter) throws(EndOfBytes) {
            guard !isPadding else { return try writer.writePadding(VideoRTPStream.paddingRange.lowerBound) }
            try frame.writePayload(at: fragment, number: number, to: &writer)
        }

        /// The dependency descriptor, which follows from the frame and its number.
        var dependencyDescriptor: DependencyDescriptor? {
            isPadding ? nil : frame.dependencyDescriptor(at: fragment, number: number)
        }

        /// The extensions of the first transmission, without the dependency descriptor. Without RTX a retransmission has
        /// the same sequence number, which SRTP allows only for identical bytes (RFC 3711 §9.1).
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
    /// Whether audio of the same media stream is sent, so that the receiver may delay video for synchronization.
    var isWithSound = false
    /// The playout delay that was sent last.
    private var sentPlayoutDelay: PlayoutDelay?
    /// Forward error correction; nil if the peer does not accept it.
    var protection: FrameProtection?
    var retransmissionSequenceNumber: SequenceNumber
    var history: RetransmissionHistory<SentPacket>
    /// The timestamp of the newest packet.
    var newestTimestamp: RTPTimestamp?
    /// The time of the newest packet, or of a queued one that keeps a layer of a simulcast alive.
    var newestSend: Instant?
    /// The payload type of the newest packet's codec.
    private(set) var newestPayloadType: PayloadType?
    /// The name of its codec; nil before the first, and if a later description omits the codec.
    var newestEncodingName: String? {
        stream.parameters.formats.first { $0.payloadType == newestPayloadType }?.format.encodingName
    }
    /// A counter of descriptions that change how packets are written.
    private var generation: UInt16 = 0
    /// The packets of a layer of a simulcast that wait before the pacer; nil for a single stream.
    var layerQueue: LayerQueue<PacedPacket>?
    var requestedLoss = RequestedLoss()
    /// The number of retransmissions in the pacer.
    var queuedRetransmissions = 0
    /// The retransmissions that are repeated with the next frame, since they can be lost as well, and the times at
    /// which they were sent.
    var repetitions: [(number: SequenceNumber, sent: Instant)] = []
    private var hasSentKeyFrame = false
    private var numbering = PictureNumbering()
    /// The orientation that was sent last.
    private var sentQuarterTurns = 0

    /// Creates a stream whose history stores the packets of `maximumBitrate`.
    init(
        parameters: OutgoingStream.Parameters, maximumBitrate: DataRate = .kilobitsPerSecond(2500),
        random: inout some RandomNumberGenerator
    ) {
        history = RetransmissionHistory(capacity: RetransmissionHistory<SentPacket>.capacity(for: maximumBitrate))
        stream = OutgoingStream(parameters: parameters, clockRate: PacketizedFrame.clockRate, random: &random)
        retransmissionSequenceNumber = SequenceNumber(.random(in: 1..<0x8000, using: &random))
        protection = parameters.forwardErrorCorrection.map { FrameProtection($0, resuming: nil) }
    }

    /// Applies a later description.
    mutating func update(_ parameters: OutgoingStream.Parameters) {
        let isWrittenAlike =
            parameters.formats.elementsEqual(stream.parameters.formats) {
                $0.format === $1.format && $0.payloadType == $1.payloadType
            } && parameters.extensions == stream.parameters.extensions
            && parameters.forwardErrorCorrection == stream.parameters.forwardErrorCorrection
        if !isWrittenAlike { generation &+= 1 }
        if parameters.forwardErrorCorrection != stream.parameters.forwardErrorCorrection {
            protection = parameters.forwardErrorCorrection.map { FrameProtection($0, resuming: protection) }
        }
        stream.parameters = parameters
    }

    /// Whether a packet can be retransmitted now. Over RTX it has its own number. Without RTX, a packet that would be
    /// written differently must not be sent with its original number, since SRTP would encrypt two packets with one key
    /// stream.
    func canWrite(_ packet: SentPacket) -> Bool {
        stream.parameters.retransmission(of: packet.frame) != nil || packet.generation == generation
    }

    /// Resumes after a pause, with a key frame.
    mutating func resume() {
        stream.resume()
        hasSentKeyFrame = false
        keyFrameRequests.request()
    }

    /// Queues a frame's packets. Returns false if the peer can't decode the frame because it does not accept the codec,
    /// or has no key frame yet, or none of this encoder.
    mutating func enqueue(
        _ frame: PacketizedFrame, as media: Int, to pacer: inout Pacer<PacedPacket>, now: Instant
    ) -> Bool {
        guard stream.parameters.format(of: frame) != nil, frame.isKeyFrame || hasSentKeyFrame, numbering.follows(frame)
        else { return false }
        hasSentKeyFrame = true
        stream.statistics.count(frame)
        repeatRetransmissions(as: media, to: &pacer, now: now)
        let isProtected = canBeProtected(frame)
        let (group, corrections, correctionByteCount) =
            protection?.corrections(for: frame, isProtected: isProtected, now: now) ?? (.none, 0, 0)
        for fragment in 0..<frame.fragmentCount {
            enqueue(
                .picture(frame, media: UInt32(media), fragment: UInt16(clamping: fragment), group: group),
                payload: frame.payloadByteCount(at: fragment), to: &pacer, now: now)
        }
        // Corrections follow their frame, before the next one: receivers combine consecutive numbers.
        for index in 0..<corrections {
            enqueue(
                .correction(media: UInt32(media), index: UInt8(clamping: index)), payload: correctionByteCount,
                to: &pacer, now: now)
        }
        return true
    }

    private mutating func enqueue(
        _ packet: PacedPacket, payload: Int, to pacer: inout Pacer<PacedPacket>, now: Instant
    ) {
        let size = payload + RTPHeader.fixedByteCount
        if layerQueue?.enqueue(packet, size: size, now: now) == nil {
            pacer.enqueue(packet, size: size, priority: .video, now: now)
        }
    }

    /// Sets the target of a layer of a simulcast, whose packets wait in a queue of their own.
    mutating func setLayerTarget(_ target: DataRate, now: Instant) {
        if layerQueue?.setTarget(target, now: now) == nil { layerQueue = LayerQueue(target: target) }
    }

    /// Whether corrections of a frame help. Its packets must have its number, in the payload or in a dependency
    /// descriptor. They must be retransmitted in another stream: the first transmission was in RED, and SRTP allows only
    /// identical bytes with the same sequence number (RFC 3711 §9.1).
    func canBeProtected(_ frame: PacketizedFrame) -> Bool {
        guard stream.parameters.retransmission(of: frame) != nil else { return false }
        return frame.format.numbersFrames
            || frame.format.usesDependencyDescriptor && stream.parameters.extensions[.dependencyDescriptor] != nil
    }

    /// Lets the history store the packets of a higher bitrate.
    mutating func allow(maximumBitrate: DataRate) {
        history.allow(capacity: RetransmissionHistory<SentPacket>.capacity(for: maximumBitrate))
    }

    /// Continues as a single stream, with a key frame instead of the packets of the layer that wait.
    mutating func endLayer() {
        if layerQueue?.isEmpty == false { keyFrameRequests.request() }
        layerQueue = nil
    }

    /// Writes a packet of a frame, or of padding after it, if `fragment` is the number of its fragments. `group` is the
    /// group of its corrections. Returns false if the peer does not accept the codec any more.
    @discardableResult
    mutating func writeMedia(
        _ frame: PacketizedFrame, fragment: Int, group: CorrectionGroup = .none, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) -> Bool {
        guard let payloadType = stream.parameters.format(of: frame)?.payloadType else { return false }
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        if frame.isLastFragment(fragment) {
            // 3GPP TS 26.114 §7.4.5 requires the orientation with key frames and changes. libwebrtc takes a frame
            // without it as upright.
            if frame.isKeyFrame || frame.quarterTurns != 0 || frame.quarterTurns != sentQuarterTurns {
                extensions.videoOrientation = VideoOrientation(quarterTurns: frame.quarterTurns)
                sentQuarterTurns = frame.quarterTurns
            }
            // The value persists between frames. A receiver can start at a key frame.
            if frame.isKeyFrame, stream.parameters.isContent { extensions.videoContentType = .screenshare }
        }
        if fragment == 0 {
            let delay = playoutDelay
            if frame.isKeyFrame || delay != sentPlayoutDelay { extensions.playoutDelay = delay }
            sentPlayoutDelay = delay
            numbering.begin(frame)
        }
        let packet = SentPacket(
            frame: frame, fragment: fragment, extensions: extensions, number: numbering.number,
            generation: generation)
        let start = writer.offset
        if group != .none, protection != nil, FrameProtection.protects(fragment, of: frame) {
            try writeProtected(packet, extensions, payloadType: payloadType, group: group, to: &writer)
        } else {
            try write(
                packet, extensions, payloadType: payloadType, sequenceNumber: stream.sequenceNumber, to: &writer)
        }
        let payloadByteCount = packet.payloadByteCount
        newestTimestamp = frame.timestamp(offset: stream.timestampOffset)
        newestPayloadType = payloadType
        newestSend = now
        history.insert(stream.sequenceNumber, packet, size: writer.offset - start, now: now)
        stream.advance(payload: payloadByteCount, header: writer.offset - start - payloadByteCount)
        return true
    }

    /// The playout delay. A shared screen is shown immediately, except for the time of retransmissions. With audio,
    /// synchronization matters more, and the receiver may delay video until its audio is played.
    private var playoutDelay: PlayoutDelay {
        let hold = protection?.policy.hold ?? .zero
        return PlayoutDelay(minimum: hold, maximum: isWithSound ? .seconds(10) : hold)
    }

    func write(
        _ packet: SentPacket, _ extensions: HeaderExtensions, payloadType: PayloadType, sequenceNumber: SequenceNumber,
        to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        try header(of: packet, extensions, payloadType: payloadType, sequenceNumber: sequenceNumber)
            .write(to: &writer, map: stream.parameters.extensions)
        try packet.writePayload(to: &writer)
    }

    private func header(
        of packet: SentPacket, _ extensions: HeaderExtensions, payloadType: PayloadType, sequenceNumber: SequenceNumber
    ) -> OutgoingRTPHeader {
        var extensions = extensions
        extensions.dependencyDescriptor = packet.dependencyDescriptor
        var header = OutgoingRTPHeader(
            marker: packet.frame.isLastFragment(packet.fragment), payloadType: payloadType,
            sequenceNumber: sequenceNumber, timestamp: packet.frame.timestamp(offset: stream.timestampOffset),
            source: stream.source, extensions: extensions)
        header.hasPadding = packet.isPadding
        return header
    }

    /// Writes the first transmission of a packet in RED, which libwebrtc's receiver requires for correction, and adds
    /// it to the corrections of its group. It is retransmitted only over RTX, without RED.
    private mutating func writeProtected(
        _ packet: SentPacket, _ extensions: HeaderExtensions, payloadType: PayloadType, group: CorrectionGroup,
        to writer: inout ByteWriter
    ) throws(EndOfBytes) {
        guard let types = protection?.payloadTypes else { return }
        let start = writer.offset
        try header(of: packet, extensions, payloadType: types.red, sequenceNumber: stream.sequenceNumber)
            .write(to: &writer, map: stream.parameters.extensions)
        let headerEnd = writer.offset
        try REDPayload.writeHeader(payloadType, to: &writer)
        let payloadStart = writer.offset
        try packet.frame.writePayload(at: packet.fragment, number: packet.number, to: &writer)
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
