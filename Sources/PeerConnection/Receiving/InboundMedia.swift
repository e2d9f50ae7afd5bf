internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// A media section that the peer sends. It identifies the section's source and receives it.
///
/// The description can name the source (`a=ssrc`). If it does not, a packet does, by its `mid` extension or by a
/// payload type that no other section has (RFC 9143 §9.2), and a packet of another source can replace that later. The
/// source of retransmissions is found in the same way. If a packet's `mid` contradicts, the `mid` counts. A later
/// description can change everything except the media type. The receiver continues, with its numbers and counts, as
/// long as the source stays.
struct InboundMedia: Sendable {
    private(set) var negotiated: NegotiatedMedia
    private(set) var extensions: HeaderExtensionMap
    /// The source of this side's reports.
    let localSource: SynchronizationSource
    /// Whether the latest description lets the peer send. While it does not, packets are rejected and no reports are
    /// sent.
    private(set) var isActive: Bool
    /// The subgroup to which the peer shares the media; nil for all participants.
    private(set) var subgroup: String?
    /// Whether the peer said goodbye for the source.
    private(set) var hasEnded = false
    /// The last former source, whose goodbye can still arrive.
    private(set) var formerSource: SynchronizationSource?
    /// The retransmission source of the former source, from which packets can still arrive.
    private var formerRetransmissionSource: SynchronizationSource?
    /// The source of retransmissions if no description names it.
    private var retransmissionSource: SynchronizationSource?
    /// The time at which a packet named the source; nil for a source in a description.
    private var sourceSince: Instant?
    /// The latest sender report and its arrival time.
    private(set) var lastSenderReport: (report: SenderReport, arrival: Instant)?
    /// The number of sender reports of the source.
    private(set) var senderReportCount = 0
    /// The receiver of video; nil for audio, and before a source is known.
    ///
    /// It and the audio receiver are separate properties: to extract one from an enum and put it back, for each packet
    /// and each access, costs more than its work on the packet.
    private(set) var video: InboundVideoStream?
    /// The receiver of audio; nil for video, and before a source is known.
    private(set) var audio: InboundAudioStream?
    private var activity = ActivityMonitor()

    init(_ negotiated: NegotiatedMedia, localSource: SynchronizationSource) {
        self.negotiated = negotiated
        self.localSource = localSource
        extensions = HeaderExtensionMap(negotiated)
        isActive = negotiated.direction.receives
        if let ssrc = negotiated.remote.ssrc { hear(SynchronizationSource(ssrc)) }
    }

    /// Applies a later description of the section; nil if it is rejected. A source that it announces newly replaces another
    /// one.
    mutating func update(_ negotiated: NegotiatedMedia?) {
        let wasActive = isActive
        isActive = negotiated?.direction.receives ?? false
        if let negotiated {
            let announced = negotiated.remote.ssrc.map { SynchronizationSource($0) }
            let isNews = negotiated.remote.ssrc != self.negotiated.remote.ssrc
            self.negotiated = negotiated
            extensions = HeaderExtensionMap(negotiated)
            if let source = isNews ? announced ?? source : source ?? announced { hear(source) }
        }
        if isActive, !wasActive {
            hasEnded = false
            activity.restart()
        }
    }

    /// Sets the subgroup that the peer names. Returns whether it has changed.
    mutating func setSubgroup(_ subgroup: String?) -> Bool {
        defer { self.subgroup = subgroup }
        return self.subgroup != subgroup
    }

    /// Whether the section is audio.
    var isAudio: Bool { negotiated.codec.encodingName.lowercased() == "opus" }
    /// The source of the media, announced or found in a packet.
    var source: SynchronizationSource? { video?.source ?? audio?.source }

    /// Whether this is the source of the section's media or of its retransmissions.
    func isSource(_ source: SynchronizationSource) -> Bool {
        video?.receives(source) ?? (audio?.source == source)
    }

    /// Whether a packet without `mid` can name a source of the section, by a payload type that only this section has.
    func canName(_ type: PayloadType) -> Bool {
        source == nil || (isMediaPayloadType(type) ? negotiated.remote.ssrc : announcedRetransmissionSource) == nil
    }

    /// Whether a packet belongs to this section.
    func takes(_ header: RTPHeader, mid: String?) -> Bool {
        if isSource(header.source) { return true }
        guard isOwnPayloadType(header.payloadType) else { return false }
        return mid == nil || mid == negotiated.mid
    }

    /// Processes a packet. Returns false if it does not belong to the section's media.
    mutating func receive(_ header: RTPHeader, extensions: HeaderExtensions, in packet: RawSpan, now: Instant) -> Bool {
        guard isActive else { return false }
        guard isSource(header.source) || takesSource(of: header, extensions, now: now) else { return false }
        // Many senders count retransmissions with the media in their reports: a retransmission that arrives is not
        // missing.
        let payload = header.payload(of: packet)
        let isMedia = header.source == source && payload.byteCount > 0 && isMediaPayloadType(header.payloadType)
        activity.receivePacket(isMedia: isMedia, now: now)
        video?.receive(header, extensions: extensions, in: packet, now: now)
        audio?.receive(header, level: extensions.audioLevel, payload: payload, now: now)
        return true
    }

    /// Removes a source that belongs to another section.
    mutating func lose(_ source: SynchronizationSource) {
        guard source == self.source else { return }
        forgetSource()
        receiveGoodbye()
    }

    /// Removes all received state, since the section has other media from now on.
    mutating func release() {
        isActive = false
        forgetSource()
    }

    private mutating func forgetSource() {
        recordFormerSource()
        video = nil
        audio = nil
    }

    private mutating func recordFormerSource() {
        guard let source else { return }
        formerSource = source
        formerRetransmissionSource = video?.retransmissionSource
        retransmissionSource = nil
        sourceSince = nil
        lastSenderReport = nil
        senderReportCount = 0
    }

    /// Processes a sender report of the section's source. Other reports are ignored.
    mutating func receive(_ report: SenderReport, now: Instant) {
        guard isActive, report.source == source else { return }
        lastSenderReport = (report, now)
        senderReportCount += 1
        activity.receive(report)
        video?.receive(report, now: now)
        audio?.receive(report, now: now)
    }

    /// Records a goodbye for the source, until another description lets it send again.
    mutating func receiveGoodbye() {
        hasEnded = true
        if isActive { activity.receiveGoodbye() }
    }

    /// Requests a key frame.
    mutating func requestKeyFrame(now: Instant) { video?.requestKeyFrame(now: now) }

    mutating func pollFrame() -> AssembledFrame? { video?.pollFrame() }

    mutating func pollSound() -> ReceivedAudioPacket? { audio?.pollPacket() }

    /// Returns the activity of the media if it has changed. `isConnected` is true while ICE has a working path.
    mutating func pollActivity(now: Instant, isConnected: Bool) -> ReceiverActivity? {
        isActive ? activity.poll(now: now, isConnected: isConnected) : nil
    }

    /// Returns the feedback that is due. A sender that said goodbye receives no key frame request until its media
    /// arrives again, since it would not answer.
    mutating func pollFeedback(now: Instant) -> [RTCPPacket] {
        guard isActive else { return [] }
        return video?.pollFeedback(now: now, requestsKeyFrames: !activity.hasEnded) ?? []
    }

    mutating func pollReport(now: Instant) -> ReceiverReport? {
        guard isActive, let block = video?.pollReportBlock(now: now) ?? audio?.pollReportBlock(now: now) else {
            return nil
        }
        return ReceiverReport(source: localSource, reportBlocks: [block])
    }

    /// Returns the next time to poll, after everything was polled at `now`.
    func nextDeadline(now: Instant) -> Instant? {
        guard isActive else { return nil }
        let due = video?.nextDeadline(now: now, requestsKeyFrames: !activity.hasEnded) ?? audio?.nextDeadline
        guard let silence = activity.nextDeadline else { return due }
        return due.map { min($0, silence) } ?? silence
    }

    /// Sets the round-trip time, which determines the interval of repeated requests. A receiver gets it only from ICE.
    mutating func setRoundTripTime(_ time: Duration) {
        video?.setRoundTripTime(time)
    }

    private func isOwnPayloadType(_ type: PayloadType) -> Bool {
        isMediaPayloadType(type) || negotiated.codecs.contains { $0.rtxPayloadType == type.rawValue }
            || type.rawValue == negotiated.forwardErrorCorrection?.redRetransmission
    }

    /// Whether packets of this type are the media's own, in RED or not.
    private func isMediaPayloadType(_ type: PayloadType) -> Bool {
        negotiated.codecs.contains { $0.map.payloadType == type.rawValue }
            || type.rawValue == negotiated.forwardErrorCorrection?.red
    }

    /// The source of retransmissions that a description names together with the source.
    private var announcedRetransmissionSource: UInt32? {
        negotiated.remote.ssrc == source?.rawValue ? negotiated.remote.rtxSSRC : nil
    }

    /// Receives the source of a packet if the packet names the section's media or its retransmissions.
    private mutating func takesSource(
        of header: RTPHeader, _ extensions: HeaderExtensions, now: Instant
    ) -> Bool {
        if isMediaPayloadType(header.payloadType) {
            guard canFollow(header.source, extensions, now: now) else { return false }
            hear(header.source)
            sourceSince = now
            return true
        }
        // RFC 4588 §5.3: the payload type is enough to match retransmissions with a stream that has no others.
        guard isOwnPayloadType(header.payloadType), let source, announcedRetransmissionSource == nil,
            header.source != formerRetransmissionSource
        else { return false }
        retransmissionSource = header.source
        hear(source)
        return isSource(header.source)
    }

    /// Whether media of another source can replace the section's source: after that has ended or is silent, and
    /// immediately if no description names it. Two alternating sources do not replace each other repeatedly:
    /// ``changePause`` precedes a change, and the source before the last change stays rejected as long as the other one
    /// sends.
    private func canFollow(_ other: SynchronizationSource, _ extensions: HeaderExtensions, now: Instant) -> Bool {
        guard source != nil else { return true }
        let isAnnounced = negotiated.remote.ssrc != nil
        let isNamed = negotiated.mid != nil && extensions.mediaIdentification == negotiated.mid
        guard isNamed || !isAnnounced else { return false }
        if hasEnded || activity.isSilent(now: now) { return true }
        guard !isAnnounced else { return false }
        return other == formerSource
            ? activity.isSilent(for: Self.changePause, now: now)
            : sourceSince.map { now - $0 >= Self.changePause } ?? true
    }

    /// The time for which libwebrtc accepts no other source after one that no description names.
    private static let changePause = Duration.milliseconds(500)

    /// Receives a source, or continues to receive it with the latest negotiated values.
    private mutating func hear(_ source: SynchronizationSource) {
        if source != self.source {
            hasEnded = false
            recordFormerSource()
        }
        if isAudio {
            video = nil
            hearSound(source)
        } else {
            audio = nil
            hearVideo(source)
        }
    }

    private mutating func hearSound(_ source: SynchronizationSource) {
        guard let payloadType = PayloadType(negotiated.payloadType) else { return }
        let configuration = InboundAudioStream.Configuration(source: source, payloadType: payloadType)
        if audio?.source == source {
            audio?.setPayloadType(payloadType)
        } else if let old = audio {
            audio = InboundAudioStream(configuration: configuration, resuming: old)
        } else {
            audio = InboundAudioStream(configuration: configuration)
        }
    }

    private mutating func hearVideo(_ source: SynchronizationSource) {
        var configuration = InboundVideoStream.Configuration(
            source: source, formats: negotiated.formats, localSource: localSource)
        // Retransmissions belong to the source with which they were announced.
        let announced = negotiated.remote.ssrc == source.rawValue ? negotiated.remote.rtxSSRC : nil
        if configuration.formats.contains(where: { $0.retransmission != nil }) {
            configuration.retransmissionSource = announced.map { SynchronizationSource($0) } ?? retransmissionSource
        }
        configuration.forwardErrorCorrection = negotiated.forwardErrorCorrection.flatMap { .init($0) }
        configuration.extensions = extensions
        configuration.sendsNACK = negotiated.feedback.contains(.nack)
        configuration.keyFrameRequest =
            negotiated.feedback.contains(.pictureLoss)
            ? .pictureLossIndication : negotiated.feedback.contains(.fullIntraRequest) ? .fullIntraRequest : .none
        if video?.source == source {
            video?.update(configuration)
        } else {
            video = InboundVideoStream(configuration: configuration)
        }
    }
}

extension HeaderExtensionMap {
    /// Creates the negotiated ids of a section.
    init(_ media: NegotiatedMedia) {
        self.init()
        for (uri, id) in media.extensionIDs {
            if let kind = HeaderExtensionKind(uri: uri.rawValue) { self[kind] = id }
        }
    }
}
