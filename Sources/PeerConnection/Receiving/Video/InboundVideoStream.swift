package import RTCShareRTP
package import RTCShareWireFormat

/// An incoming video stream. It assembles packets into frames and creates the feedback for the sender.
///
/// After each input call ``pollFeedback(now:)``, ``pollReportBlock(now:)`` and ``pollFrame()``, the last until it
/// returns nil. Call them again at ``nextDeadline(now:)``.
package struct InboundVideoStream: Sendable {
    /// The message that requests a key frame.
    package enum KeyFrameRequest: Hashable, Sendable {
        /// PLI (`a=rtcp-fb:* nack pli`).
        case pictureLossIndication
        /// FIR (`a=rtcp-fb:* ccm fir`).
        case fullIntraRequest
        /// No message: key frames can't be requested.
        case none
    }

    /// The negotiated values of the stream.
    package struct Configuration: Sendable {
        /// The source of the stream.
        package var source: SynchronizationSource
        /// The codecs.
        package var formats: [NegotiatedFormat]
        /// The source of retransmissions; nil if there are none.
        package var retransmissionSource: SynchronizationSource?
        /// The payload types of forward error correction; nil if there is none.
        package var forwardErrorCorrection: ForwardErrorCorrectionTypes?
        /// The ids of header extensions, for recovered packets.
        package var extensions = HeaderExtensionMap()
        /// The source of our RTCP packets.
        package var localSource: SynchronizationSource
        /// Whether packets can be requested (`a=rtcp-fb:* nack`).
        package var sendsNACK = true
        /// The message that requests a key frame.
        package var keyFrameRequest = KeyFrameRequest.pictureLossIndication
        /// The interval of receiver reports.
        package var reportInterval = Duration.seconds(1)
        /// The minimum interval of key frame requests.
        package var keyFrameRequestInterval = Duration.milliseconds(300)
        /// The time without the last packets of a frame after which they are requested. If the screen does not change,
        /// no later packet reveals their loss. A sender's pacing leaves less time than this between two packets.
        package var tailDelay = Duration.milliseconds(100)
        /// The limits of frame assembly.
        package var assembler = FrameAssembler.Configuration()
        /// The schedule of NACK.
        package var nack = NACKGenerator.Configuration()

        /// Creates the configuration of a stream without a source of retransmissions.
        package init(source: SynchronizationSource, formats: [NegotiatedFormat], localSource: SynchronizationSource) {
            self.source = source
            self.formats = formats
            self.localSource = localSource
        }

        /// Returns the format of a payload type of media; nil for others.
        func format(of payloadType: PayloadType) -> (any VideoPayloadFormat)? {
            formats.first { $0.payloadType == payloadType }?.format
        }

        /// Whether packets of a payload type are retransmitted by RTX.
        func isRetransmitted(_ payloadType: PayloadType) -> Bool {
            guard retransmissionSource != nil else { return false }
            if payloadType == forwardErrorCorrection?.red { return forwardErrorCorrection?.redRetransmission != nil }
            return formats.first { $0.payloadType == payloadType }?.retransmission != nil
        }
    }

    private static let clockRate = 90_000
    /// The maximum distance of plain retransmissions behind the newest packet.
    private static let maximumMisorder = 3000

    private var configuration: Configuration
    /// The decoder that recovers packets; nil before the first RED packet.
    private var decoder: ULPFECDecoder?
    private var retransmissions = RetransmissionUnwrapper()
    private var reception = ReceiveStatistics(
        clockRate: clockRate, minimumSequential: 1, maximumMisorder: maximumMisorder)
    private var clock = MediaClock(clockRate: clockRate)
    private var nack: NACKGenerator
    private var assembler: FrameAssembler
    private var counts = InboundVideoStatistics()
    private var trains = PacketTrains()
    private var nextReport: Instant?
    private var lastKeyFrameRequest: Instant?
    private var fullIntraRequestNumber: UInt8 = 0
    /// The format of the newest frame.
    private var newestFormat: (any VideoPayloadFormat)?

    /// Creates a receiver without packets.
    package init(configuration: Configuration) {
        self.configuration = configuration
        nack = NACKGenerator(configuration: configuration.nack)
        var limits = configuration.assembler
        // If packets can't be requested, only reordered packets are worth waiting for.
        if !configuration.sendsNACK { limits.maximumWait = min(limits.maximumWait, .milliseconds(100)) }
        assembler = FrameAssembler(configuration: limits)
        connectRetransmissions()
    }

    private mutating func connectRetransmissions() {
        retransmissions = RetransmissionUnwrapper()
        guard let source = configuration.retransmissionSource else { return }
        retransmissions.add(source: source, for: configuration.source)
        for format in configuration.formats {
            if let type = format.retransmission { retransmissions.add(payloadType: type, for: format.payloadType) }
        }
        guard let correction = configuration.forwardErrorCorrection, let type = correction.redRetransmission else {
            return
        }
        retransmissions.add(payloadType: type, for: correction.red)
    }

    /// Applies another description of the same stream: payload types, retransmissions, feedback.
    mutating func update(_ configuration: Configuration) {
        self.configuration = configuration
        connectRetransmissions()
    }

    /// The source of the stream.
    package var source: SynchronizationSource { configuration.source }

    /// The payload type of the newest frame's codec.
    var newestPayloadType: PayloadType? {
        configuration.formats.first { $0.format === newestFormat }?.payloadType
    }

    /// The source of retransmissions; nil if it is unknown.
    var retransmissionSource: SynchronizationSource? { configuration.retransmissionSource }

    /// Whether packets of this source belong to this receiver.
    package func receives(_ source: SynchronizationSource) -> Bool {
        source == configuration.source || source == configuration.retransmissionSource
    }

    /// Processes a packet of the stream or of its retransmissions, whose header was parsed from `packet`.
    package mutating func receive(
        _ header: RTPHeader, extensions: HeaderExtensions = HeaderExtensions(), in packet: RawSpan, now: Instant
    ) {
        let payload = header.payload(of: packet)
        counts.lastPacketReceivedTimestamp = now
        counts.packetsReceived += 1
        counts.bytesReceived += payload.byteCount
        counts.headerBytesReceived += header.byteCount + header.paddingByteCount
        if nextReport == nil { nextReport = now.advanced(by: configuration.reportInterval) }
        if header.source == configuration.source, let format = configuration.format(of: header.payloadType) {
            guard accept(header, payload: payload, now: now) else { return }
            assemble(
                header.sequenceNumber, header: header, extensions: extensions, payload: payload, as: format, now: now)
            return
        }
        if header.source == configuration.source, header.payloadType == configuration.forwardErrorCorrection?.red {
            receiveRED(header, extensions: extensions, in: packet, now: now)
            return
        }
        switch retransmissions.content(source: header.source, payloadType: header.payloadType, payload: payload) {
        case .notRetransmission, .malformed: counts.packetsRejected += 1
        case .padding: break
        case .original(let original):
            counts.retransmittedPacketsReceived += 1
            counts.retransmittedBytesReceived += payload.byteCount
            guard isPlausible(original.sequenceNumber) else {
                counts.packetsRejected += 1
                return
            }
            recordArrival(original.sequenceNumber, isRepair: true, now: now)
            let content = payload.extracting(original.payloadRange)
            if original.payloadType == configuration.forwardErrorCorrection?.red {
                // Corrections cover the packet's first transmission, whose header is not available here.
                assembleRED(
                    original.sequenceNumber, header: header, extensions: extensions, payload: content, now: now)
            } else if let format = configuration.format(of: original.payloadType) {
                assemble(
                    original.sequenceNumber, header: header, extensions: extensions, payload: content, as: format,
                    now: now)
            }
        }
    }

    /// Processes a sender report of the stream. Other reports are ignored.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.source == configuration.source else { return }
        reception.receive(report, now: now)
        clock.receive(report, now: now)
    }

    /// Sets the connection's round-trip time, which determines the interval of repeated NACKs.
    package mutating func setRoundTripTime(_ time: Duration) {
        nack.setRoundTripTime(time)
    }

    /// Drops everything until the next key frame and requests one, because the decoder lost its state.
    package mutating func requestKeyFrame(now: Instant) {
        assembler.awaitKeyFrame(now: now)
    }

    /// Returns the next whole frame, in decoding order.
    package mutating func pollFrame() -> AssembledFrame? {
        guard var frame = assembler.pollFrame() else { return nil }
        frame.captureTime = clock.captureTime(of: frame.timestamp, arrival: frame.firstArrival)
        counts.framesReceived += 1
        newestFormat = frame.format
        if frame.packetCount > 1 {
            counts.framesAssembledFromMultiplePackets += 1
            counts.totalAssemblyTime += frame.completion - frame.firstArrival
        }
        return frame
    }

    /// Returns the feedback to send now: NACK, and a key frame request if the sender can answer one.
    package mutating func pollFeedback(now: Instant, requestsKeyFrames: Bool = true) -> [RTCPPacket] {
        assembler.poll(now: now)
        var packets: [RTCPPacket] = []
        let lost = pollNACK(now: now)
        if !lost.isEmpty {
            counts.nackCount += 1
            packets.append(
                .genericNACK(GenericNACK(sender: configuration.localSource, media: configuration.source, lost: lost)))
        }
        if requestsKeyFrames, let request = pollKeyFrameRequest(now: now) { packets.append(request) }
        return packets
    }

    /// Returns the report block on the stream if it is due, for a receiver report on all streams of the connection.
    package mutating func pollReportBlock(now: Instant) -> ReportBlock? {
        guard let nextReport, nextReport <= now else { return nil }
        self.nextReport = now.advanced(by: configuration.reportInterval)
        return reception.reportBlock(on: configuration.source, now: now)
    }

    /// Returns the next time to poll, after everything was polled at `now`; nil before the first packet.
    package func nextDeadline(now: Instant, requestsKeyFrames: Bool = true) -> Instant? {
        var deadline = nextReport
        func consider(_ other: Instant?) {
            guard let other else { return }
            deadline = min(deadline ?? other, other)
        }
        consider(nack.nextDeadline)
        consider(tailDeadline?.due)
        consider(assembler.nextDeadline(now: now))
        if requestsKeyFrames, assembler.needsKeyFrame(now: now), configuration.keyFrameRequest != .none,
            let due = assembler.keyFrameDeadline
        {
            // The request can have become due after the last poll. A deadline at the time of that poll would repeat the
            // poll, in which the request is not due.
            consider(max(due, lastKeyFrameRequest?.advanced(by: configuration.keyFrameRequestInterval) ?? due))
        }
        return deadline
    }

    /// The current counts.
    package var statistics: InboundVideoStatistics {
        var statistics = counts
        statistics.packetsLost = reception.packetsLost
        statistics.jitter = reception.jitter
        statistics.packetsDiscarded = assembler.packetsDiscarded
        statistics.packetsDuplicated = assembler.packetsDuplicated
        statistics.framesDropped = assembler.framesDropped
        statistics.trainByteCount = trains.byteCount
        statistics.trainDuration = trains.duration
        return statistics
    }

    private mutating func receiveRED(
        _ header: RTPHeader, extensions: HeaderExtensions, in packet: RawSpan, now: Instant
    ) {
        let payload = header.payload(of: packet)
        guard accept(header, payload: payload, now: now) else { return }
        assembleRED(header.sequenceNumber, header: header, extensions: extensions, payload: payload, now: now)
        guard let type = try? REDPayload.blockPayloadType(of: payload) else { return }
        if decoder == nil { decoder = ULPFECDecoder(source: configuration.source) }
        if configuration.format(of: type) != nil {
            decoder?.receive(header, in: packet, payloadType: type, now: now)
        } else if type == configuration.forwardErrorCorrection?.ulpfec {
            let correction = payload.extracting(REDPayload.headerByteCount..<payload.byteCount)
            counts.fecPacketsReceived += 1
            counts.fecBytesReceived += correction.byteCount
            do {
                try decoder?.receive(correction: correction, now: now)
            } catch {
                counts.packetsRejected += 1
            }
        }
        while let packet = decoder?.pollRecovered() { receiveRecovered(packet.span.bytes, now: now) }
    }

    /// Processes a recovered packet, which stays lost in the statistics (RFC 3550 §6.4.1).
    private mutating func receiveRecovered(_ packet: RawSpan, now: Instant) {
        guard let header = try? RTPHeader(parsing: packet),
            let format = configuration.format(of: header.payloadType), isPlausible(header.sequenceNumber)
        else {
            counts.packetsRejected += 1
            return
        }
        counts.packetsRecovered += 1
        recordArrival(header.sequenceNumber, isRepair: true, now: now)
        assemble(
            header.sequenceNumber, header: header,
            extensions: HeaderExtensions(header, in: packet, map: configuration.extensions),
            payload: header.payload(of: packet), as: format, now: now)
    }

    /// Processes the block of a RED packet. For a correction, it records that the packet's number is not missing, and for an
    /// unknown block that nothing can be read.
    private mutating func assembleRED(
        _ number: SequenceNumber, header: RTPHeader, extensions: HeaderExtensions, payload: RawSpan, now: Instant
    ) {
        let type = try? REDPayload.blockPayloadType(of: payload)
        if let type, let format = configuration.format(of: type) {
            let block = payload.extracting(REDPayload.headerByteCount..<payload.byteCount)
            assemble(number, header: header, extensions: extensions, payload: block, as: format, now: now)
        } else if payload.byteCount == 0 || type == configuration.forwardErrorCorrection?.ulpfec {
            assembler.insertPadding(number, timestamp: header.timestamp, now: now)
            forgetUseless()
        } else {
            insertUnreadable(number, header: header, now: now)
            forgetUseless()
        }
    }

    private mutating func insertUnreadable(_ number: SequenceNumber, header: RTPHeader, now: Instant) {
        counts.packetsRejected += 1
        assembler.insertUnreadable(number, timestamp: header.timestamp, now: now)
    }

    /// Records a packet of the stream. Returns false if it does not belong to it.
    private mutating func accept(_ header: RTPHeader, payload: RawSpan, now: Instant) -> Bool {
        // Without RTX for its codec, a requested packet has its original number.
        let isRepeated =
            !configuration.isRetransmitted(header.payloadType) && nack.tries(of: header.sequenceNumber) > 0
        switch reception.receive(
            header.sequenceNumber, timestamp: header.timestamp, now: now, isRetransmission: isRepeated)
        {
        case .valid: break
        case .restarted:
            nack = NACKGenerator(resuming: nack)
            clock.restart()
            assembler.restart(now: now)
            trains.restart()
            decoder = nil
        case .probation, .implausible:
            counts.packetsRejected += 1
            return false
        }
        if isRepeated {
            counts.retransmittedPacketsReceived += 1
            counts.retransmittedBytesReceived += payload.byteCount
        }
        recordArrival(header.sequenceNumber, now: now)
        trains.add(
            header.sequenceNumber, timestamp: header.timestamp, byteCount: payload.byteCount, isRepeated: isRepeated,
            arrival: now)
        return true
    }

    /// Records a packet; a repair is one that the statistics count as lost.
    private mutating func recordArrival(_ number: SequenceNumber, isRepair: Bool = false, now: Instant) {
        guard configuration.sendsNACK else { return }
        switch nack.receive(number, now: now) {
        case .tooManyGaps: assembler.awaitKeyFrame(now: now)
        case .filledGap: counts.packetsRepaired += isRepair ? 1 : 0
        case .newest, .old: break
        }
    }

    private mutating func assemble(
        _ number: SequenceNumber, header: RTPHeader, extensions: HeaderExtensions, payload: RawSpan,
        as format: any VideoPayloadFormat, now: Instant
    ) {
        defer { forgetUseless() }
        guard payload.byteCount > 0 else {
            assembler.insertPadding(number, timestamp: header.timestamp, now: now)
            return
        }
        do {
            var (content, piece) = try format.read(payload)
            if format.usesDependencyDescriptor, let descriptor = extensions.dependencyDescriptor {
                content.add(descriptor)
            }
            assembler.insert(
                number, timestamp: header.timestamp, marker: header.marker, content: content,
                piece: [UInt8](payload.extracting(piece)), orientation: extensions.videoOrientation, now: now)
        } catch {
            insertUnreadable(number, header: header, now: now)
        }
    }

    /// Whether a retransmission's number is plausible: it must not move the stream far.
    private func isPlausible(_ number: SequenceNumber) -> Bool {
        guard reception.packetsExpected > 0 else { return true }
        let newest = SequenceNumber(UInt16(truncatingIfNeeded: reception.extendedHighestSequenceNumber))
        return (-Self.maximumMisorder...ReceiveStatistics.maximumDropout).contains(number.distance(from: newest))
    }

    private var tailDeadline: (number: SequenceNumber, due: Instant)? {
        guard configuration.sendsNACK, let tail = assembler.openTail, nack.canExpect(tail.next) else { return nil }
        return (tail.next, tail.since.advanced(by: configuration.tailDelay))
    }

    private mutating func forgetUseless() {
        if let number = assembler.firstUsefulNumber { nack.forget(before: number) }
    }

    /// Returns the packets to request. If some are given up, the stream continues elsewhere, and can lack others.
    private mutating func pollNACK(now: Instant) -> [SequenceNumber] {
        var lost: [SequenceNumber] = []
        while true {
            forgetUseless()
            if let deadline = tailDeadline, deadline.due <= now { nack.expect(deadline.number, now: now) }
            let givenUp = nack.packetsGivenUp
            lost += nack.poll(now: now)
            guard nack.packetsGivenUp > givenUp else { return lost }
            assembler.giveUpGap(now: now)
        }
    }

    private mutating func pollKeyFrameRequest(now: Instant) -> RTCPPacket? {
        guard configuration.keyFrameRequest != .none, assembler.needsKeyFrame(now: now) else { return nil }
        if let last = lastKeyFrameRequest, now - last < configuration.keyFrameRequestInterval { return nil }
        lastKeyFrameRequest = now
        if configuration.keyFrameRequest == .pictureLossIndication {
            counts.pliCount += 1
            return .pictureLossIndication(
                PictureLossIndication(sender: configuration.localSource, media: configuration.source))
        }
        counts.firCount += 1
        fullIntraRequestNumber &+= 1
        return .fullIntraRequest(
            FullIntraRequest(
                sender: configuration.localSource,
                entries: [.init(source: configuration.source, sequenceNumber: fullIntraRequestNumber)]))
    }
}
