public import SDP

/// A codec as an offer holds it and an answer is matched against it.
public struct NegotiableCodec: Hashable, Sendable {
    /// `video` or `audio`.
    public var kind: String
    /// The encoding and the payload type to offer it under.
    public var map: RTPMapAttribute
    /// The value of its `a=fmtp`, without the payload type.
    public var formatParameters: String?
    /// The feedback that is understood.
    public var feedback: [FeedbackKind]
    /// The payload type to offer its retransmissions under (RFC 4588); nil for none.
    public var rtxPayloadType: UInt8?

    /// A codec with what goes with it.
    public init(
        kind: String, map: RTPMapAttribute, formatParameters: String? = nil, feedback: [FeedbackKind],
        rtxPayloadType: UInt8?
    ) {
        self.kind = kind
        self.map = map
        self.formatParameters = formatParameters
        self.feedback = feedback
        self.rtxPayloadType = rtxPayloadType
    }

    /// VP8 (RFC 7741) with every feedback that this project understands, and retransmission.
    public static let vp8 = NegotiableCodec(
        kind: "video", map: RTPMapAttribute(payloadType: 96, encodingName: "VP8", clockRate: 90_000),
        feedback: [.nack, .pictureLoss, .fullIntraRequest, .receiverEstimatedBitrate, .transportWide],
        rtxPayloadType: 97)
}
