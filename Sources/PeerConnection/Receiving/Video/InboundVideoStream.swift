package import RTCShareRTP
package import RTCShareWireFormat

/// One incoming VP8 stream: takes its packets, returns whole frames and what is to be said to the sender.
///
/// After each input call ``pollFeedback(now:)``, ``pollReportBlock(now:)`` and ``pollFrame()``, the last until nil;
/// call them again at ``nextDeadline(now:)``.
package struct InboundVideoStream: Sendable {
    /// How a key frame is asked for.
    package enum KeyFrameRequest: Hashable, Sendable {
        /// PLI (`a=rtcp-fb:* nack pli`).
        case pictureLossIndication
        /// FIR (`a=rtcp-fb:* ccm fir`).
        case fullIntraRequest
        /// Not at all.
        case none
    }

    /// What was negotiated for the stream.
    package struct Configuration: Hashable, Sendable {
        /// The stream.
        package var source: SynchronizationSource
        /// VP8's payload type.
        package var payloadType: PayloadType
        /// The stream of retransmissions and its payload type; nil where there is none.
        package var retransmission: (source: SynchronizationSource, payloadType: PayloadType)? {
            get { retransmissionPair.map { ($0.source, $0.payloadType) } }
            set { retransmissionPair = newValue.map { Pair(source: $0.source, payloadType: $0.payloadType) } }
        }
        /// The payload types of forward error correction; nil where there is none.
        package var forwardErrorCorrection: ForwardErrorCorrectionTypes?
        /// How the header extensions of packets are numbered, for those that are made again.
        package var extensions = HeaderExtensionMap()
        /// Who reports: the source of our RTCP packets.
        package var localSource: SynchronizationSource
        /// Whether packets may be asked for (`a=rtcp-fb:* nack`).
        package var sendsNACK = true
        /// How a key frame is asked for.
        package var keyFrameRequest = KeyFrameRequest.pictureLossIndication
        /// The time between two receiver reports.
        package var reportInterval = Duration.seconds(1)
        /// The shortest time between two requests for a key frame.
        package var keyFrameRequestInterval = Duration.milliseconds(300)
        /// How long a frame may stand without its last packets before they are asked for. On a still screen no later
        /// packet shows that they are lost; a sender that paces a frame leaves less time than this between two packets.
        package var tailDelay = Duration.milliseconds(100)
        /// The limits of frame assembly.
        package var assembler = VP8FrameAssembler.Configuration()
        /// The schedule of NACK.
        package var nack = NACKGenerator.Configuration()

        private struct Pair: Hashable, Sendable {
            var source: SynchronizationSource
            var payloadType: PayloadType
        }
        private var retransmissionPair: Pair?

        /// A stream without retransmissions in a stream of their own.
        package init(source: SynchronizationSource, payloadType: PayloadType, localSource: SynchronizationSource) {
            self.source = source
            self.payloadType = payloadType
            self.localSource = localSource
        }
    }

    private static let clockRate = 90_000
    /// Plain retransmissions may be this far behind.
    private static let maximumMisorder = 3000

    private var configuration: Configuration
    /// Makes packets again; nil before the first in RED.
    private var decoder: ULPFECDecoder?
    private var retransmissions = RetransmissionUnwrapper()
    private var reception = ReceiveStatistics(
        clockRate: clockRate, minimumSequential: 1, maximumMisorder: maximumMisorder)
    private var clock = MediaClock(clockRate: clockRate)
    private var nack: NACKGenerator
    private var assembler: VP8FrameAssembler
    private var counts = InboundVideoStatistics()
    private var nextReport: Instant?
    private var lastKeyFrameRequest: Instant?
    private var fullIntraRequestNumber: UInt8 = 0

    /// A receiver that has heard nothing.
    package init(configuration: Configuration) {
        self.configuration = configuration
        nack = NACKGenerator(configuration: configuration.nack)
        var limits = configuration.assembler
        // Where nothing can be asked for, only reordering is worth waiting for.
        if !configuration.sendsNACK { limits.maximumWait = min(limits.maximumWait, .milliseconds(100)) }
        assembler = VP8FrameAssembler(configuration: limits)
        connectRetransmissions()
    }

    private mutating func connectRetransmissions() {
        retransmissions = RetransmissionUnwrapper()
        guard let retransmission = configuration.retransmission else { return }
        retransmissions.add(source: retransmission.source, for: configuration.source)
        retransmissions.add(payloadType: retransmission.payloadType, for: configuration.payloadType)
        guard let correction = configuration.forwardErrorCorrection, let type = correction.redRetransmission else {
            return
        }
        retransmissions.add(payloadType: type, for: correction.red)
    }

    /// Goes on with what another description agreed for the same stream: payload types, retransmissions, feedback.
    mutating func update(_ configuration: Configuration) {
        self.configuration = configuration
        connectRetransmissions()
    }

    /// The stream that is received.
    package var source: SynchronizationSource { configuration.source }

    /// The stream of its retransmissions; nil while none is known.
    var retransmissionSource: SynchronizationSource? { configuration.retransmission?.source }

    /// Whether packets of this source are for this receiver.
    package func receives(_ source: SynchronizationSource) -> Bool {
        source == configuration.source || source == configuration.retransmission?.source
    }

    /// Takes a packet of the stream or of its retransmissions, whose header was read from `packet`; `orientation` is what
    /// its header extension says.
    package mutating func receive(
        _ header: RTPHeader, orientation: VideoOrientation? = nil, in packet: RawSpan, now: Instant
    ) {
        let payload = header.payload(of: packet)
        counts.lastPacketReceivedTimestamp = now
        counts.packetsReceived += 1
        counts.bytesReceived += payload.byteCount
        counts.headerBytesReceived += header.byteCount + header.paddingByteCount
        if nextReport == nil { nextReport = now.advanced(by: configuration.reportInterval) }
        if header.source == configuration.source, header.payloadType == configuration.payloadType {
            receiveMedia(header, orientation: orientation, payload: payload, now: now)
            return
        }
        if header.source == configuration.source, header.payloadType == configuration.forwardErrorCorrection?.red {
            receiveRED(header, orientation: orientation, in: packet, now: now)
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
            recordArrival(original.sequenceNumber, now: now)
            let content = payload.extracting(original.payloadRange)
            if original.payloadType == configuration.forwardErrorCorrection?.red {
                // What corrections are made of is the packet's first transmission, whose header is not here.
                assembleRED(
                    original.sequenceNumber, header: header, orientation: orientation, payload: content, now: now)
            } else {
                assemble(
                    original.sequenceNumber, header: header, orientation: orientation, payload: content, now: now)
            }
        }
    }

    /// Takes a sender report of the stream; others are left aside.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.source == configuration.source else { return }
        reception.receive(report, now: now)
        clock.receive(report, now: now)
    }

    /// Sets the round trip time, as the connection knows it: NACKs are repeated by it.
    package mutating func setRoundTripTime(_ time: Duration) {
        nack.setRoundTripTime(time)
    }

    /// Drops everything until the next key frame and asks for one: the decoder lost its state.
    package mutating func requestKeyFrame(now: Instant) {
        assembler.awaitKeyFrame(now: now)
    }

    /// The next whole frame, in decoding order.
    package mutating func pollFrame() -> AssembledFrame? {
        guard var frame = assembler.pollFrame() else { return nil }
        frame.captureTime = clock.captureTime(of: frame.timestamp, arrival: frame.firstArrival)
        counts.framesReceived += 1
        if frame.packetCount > 1 {
            counts.framesAssembledFromMultiplePackets += 1
            counts.totalAssemblyTime += frame.completion - frame.firstArrival
        }
        return frame
    }

    /// The feedback that is to be sent now: NACK, then a key frame request if the sender may answer one.
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

    /// The report block on the stream, where one is due; for a receiver report of all streams of the connection.
    package mutating func pollReportBlock(now: Instant) -> ReportBlock? {
        guard let nextReport, nextReport <= now else { return nil }
        self.nextReport = now.advanced(by: configuration.reportInterval)
        return reception.reportBlock(on: configuration.source, now: now)
    }

    /// When polling is next worth it, after all was polled at `now`; nil before the first packet.
    package func nextDeadline(now: Instant, requestsKeyFrames: Bool = true) -> Instant? {
        var deadline = nextReport
        func consider(_ other: Instant?) {
            guard let other else { return }
            deadline = min(deadline ?? other, other)
        }
        consider(nack.nextDeadline)
        consider(tailDeadline?.due)
        consider(assembler.nextDeadline(now: now))
        if requestsKeyFrames, assembler.needsKeyFrame(now: now), configuration.keyFrameRequest != .none {
            consider(lastKeyFrameRequest?.advanced(by: configuration.keyFrameRequestInterval) ?? now)
        }
        return deadline
    }

    /// The counts as they are now.
    package var statistics: InboundVideoStatistics {
        var statistics = counts
        statistics.packetsLost = reception.packetsLost
        statistics.jitter = reception.jitter
        statistics.packetsDiscarded = assembler.packetsDiscarded
        statistics.packetsDuplicated = assembler.packetsDuplicated
        statistics.framesDropped = assembler.framesDropped
        return statistics
    }

    private mutating func receiveMedia(
        _ header: RTPHeader, orientation: VideoOrientation?, payload: RawSpan, now: Instant
    ) {
        guard accept(header, payload: payload, now: now) else { return }
        assemble(header.sequenceNumber, header: header, orientation: orientation, payload: payload, now: now)
    }

    private mutating func receiveRED(
        _ header: RTPHeader, orientation: VideoOrientation?, in packet: RawSpan, now: Instant
    ) {
        let payload = header.payload(of: packet)
        guard accept(header, payload: payload, now: now) else { return }
        assembleRED(header.sequenceNumber, header: header, orientation: orientation, payload: payload, now: now)
        guard let type = try? REDPayload.blockPayloadType(of: payload) else { return }
        if decoder == nil { decoder = ULPFECDecoder(source: configuration.source) }
        if type == configuration.payloadType {
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

    /// Takes a packet that forward error correction made again. Statistics have it as lost (RFC 3550 §6.4.1).
    private mutating func receiveRecovered(_ packet: RawSpan, now: Instant) {
        guard let header = try? RTPHeader(parsing: packet), header.payloadType == configuration.payloadType,
            isPlausible(header.sequenceNumber)
        else {
            counts.packetsRejected += 1
            return
        }
        counts.packetsRecovered += 1
        recordArrival(header.sequenceNumber, now: now)
        assemble(
            header.sequenceNumber, header: header,
            orientation: HeaderExtensions(header, in: packet, map: configuration.extensions).videoOrientation,
            payload: header.payload(of: packet), now: now)
    }

    /// Takes the block of a RED packet; of corrections, that their number is not missing.
    private mutating func assembleRED(
        _ number: SequenceNumber, header: RTPHeader, orientation: VideoOrientation?, payload: RawSpan, now: Instant
    ) {
        guard payload.byteCount > 0 else {
            assemble(number, header: header, orientation: orientation, payload: payload, now: now)
            return
        }
        guard let type = try? REDPayload.blockPayloadType(of: payload),
            type == configuration.payloadType || type == configuration.forwardErrorCorrection?.ulpfec
        else {
            counts.packetsRejected += 1
            return
        }
        let block = payload.extracting(REDPayload.headerByteCount..<payload.byteCount)
        if type == configuration.payloadType {
            assemble(number, header: header, orientation: orientation, payload: block, now: now)
        } else {
            assembler.insertPadding(number, timestamp: header.timestamp, now: now)
            forgetUseless()
        }
    }

    /// Takes note of a packet of the stream; false where it is none.
    private mutating func accept(_ header: RTPHeader, payload: RawSpan, now: Instant) -> Bool {
        // A number that was asked for comes back under its own number where rtx was not negotiated.
        let isRepeated = configuration.retransmission == nil && nack.tries(of: header.sequenceNumber) > 0
        switch reception.receive(
            header.sequenceNumber, timestamp: header.timestamp, now: now, isRetransmission: isRepeated)
        {
        case .valid: break
        case .restarted:
            nack = NACKGenerator(resuming: nack)
            clock.restart()
            assembler.restart(now: now)
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
        return true
    }

    private mutating func recordArrival(_ number: SequenceNumber, now: Instant) {
        guard configuration.sendsNACK else { return }
        if nack.receive(number, now: now) == .tooManyGaps { assembler.awaitKeyFrame(now: now) }
    }

    private mutating func assemble(
        _ number: SequenceNumber, header: RTPHeader, orientation: VideoOrientation?, payload: RawSpan, now: Instant
    ) {
        defer { forgetUseless() }
        guard payload.byteCount > 0 else {
            assembler.insertPadding(number, timestamp: header.timestamp, now: now)
            return
        }
        do {
            let (descriptor, count) = try VP8PayloadDescriptor.parse(payload)
            let piece = [UInt8](payload.extracting(count..<payload.byteCount))
            assembler.insert(
                number, timestamp: header.timestamp, marker: header.marker, descriptor: descriptor, payload: piece,
                orientation: orientation, now: now)
        } catch {
            counts.packetsRejected += 1
        }
    }

    /// Whether a retransmission can be of this stream as it stands: it may not move the stream far off.
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

    /// The packets to ask for. Where some are given up, the stream goes on elsewhere, and may lack others.
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
