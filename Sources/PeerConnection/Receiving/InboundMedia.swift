internal import RTP
internal import SDP
internal import WireFormat

/// A media section that the peer sends: finds out which of its sources is meant, and receives it.
///
/// The description may name the source (`a=ssrc`); where it doesn't, the first packet does, by its `mid` extension or by
/// being the only one of its payload type (RFC 9143 §9.2).
struct InboundMedia: Sendable {
    let negotiated: NegotiatedMedia
    let extensions: HeaderExtensionMap
    /// The source of this side's reports.
    let localSource: SynchronizationSource
    private(set) var receiver: VideoReceiver?
    /// The peer said goodbye for the source.
    var hasEnded = false

    init(_ negotiated: NegotiatedMedia, localSource: SynchronizationSource) {
        self.negotiated = negotiated
        self.localSource = localSource
        extensions = HeaderExtensionMap(negotiated)
        if let ssrc = negotiated.remote.ssrc { hear(SynchronizationSource(ssrc)) }
    }

    /// Whether a packet belongs to this section.
    func takes(_ header: RTPHeader, mid: String?) -> Bool {
        if let receiver, receiver.receives(header.source) { return true }
        guard isOwnPayloadType(header.payloadType) else { return false }
        return mid == nil || mid == negotiated.mid
    }

    /// Takes a packet; false where it is not the section's media.
    mutating func receive(_ header: RTPHeader, payload: RawSpan, now: Instant) -> Bool {
        if receiver == nil, header.payloadType.rawValue == negotiated.payloadType { hear(header.source) }
        guard receiver?.receives(header.source) == true else { return false }
        receiver?.receive(header, payload: payload, now: now)
        return true
    }

    mutating func receive(_ report: SenderReport, now: Instant) {
        receiver?.receive(report, now: now)
    }

    mutating func requestKeyFrame(now: Instant) {
        receiver?.requestKeyFrame(now: now)
    }

    mutating func pollFrame() -> AssembledFrame? { receiver?.pollFrame() }

    mutating func pollFeedback(now: Instant) -> [RTCPPacket] { receiver?.pollFeedback(now: now) ?? [] }

    mutating func pollReport(now: Instant) -> ReceiverReport? {
        receiver?.pollReportBlock(now: now).map { ReceiverReport(source: localSource, reportBlocks: [$0]) }
    }

    /// Sets the round trip time that requests are repeated by. A receiver learns of it from ICE alone.
    mutating func setRoundTripTime(_ time: Duration) {
        receiver?.setRoundTripTime(time)
    }

    private func isOwnPayloadType(_ type: PayloadType) -> Bool {
        type.rawValue == negotiated.payloadType || type.rawValue == negotiated.rtxPayloadType
    }

    private mutating func hear(_ source: SynchronizationSource) {
        guard let payloadType = PayloadType(negotiated.payloadType) else { return }
        var configuration = VideoReceiver.Configuration(
            source: source, payloadType: payloadType, localSource: localSource)
        if let rtx = negotiated.remote.rtxSSRC, let type = negotiated.rtxPayloadType.flatMap({ PayloadType($0) }) {
            configuration.retransmission = (SynchronizationSource(rtx), type)
        }
        configuration.sendsNACK = negotiated.feedback.contains(.nack)
        configuration.keyFrameRequest =
            negotiated.feedback.contains(.pictureLoss)
            ? .pictureLossIndication : negotiated.feedback.contains(.fullIntraRequest) ? .fullIntraRequest : .none
        receiver = VideoReceiver(configuration: configuration)
    }
}

extension HeaderExtensionMap {
    /// The ids that two descriptions agreed on.
    init(_ media: NegotiatedMedia) {
        self.init()
        for (uri, id) in media.extensionIDs {
            if let kind = HeaderExtensionKind(uri: uri.rawValue) { self[kind] = id }
        }
    }
}
