package import RTCShareSDP

/// A codec as an offer holds it and an answer is matched against it.
package struct NegotiableCodec: Hashable, Sendable {
    /// `video` or `audio`.
    package var kind: String
    /// The encoding and the payload type to offer it under.
    package var map: RTPMapAttribute
    /// The value of its `a=fmtp`, without the payload type.
    package var formatParameters: String?
    /// The feedback that is understood.
    package var feedback: [FeedbackKind]
    /// The payload type to offer its retransmissions under (RFC 4588); nil for none.
    package var rtxPayloadType: UInt8?
    /// The payload types to offer its forward error correction under; nil for none.
    package var forwardErrorCorrection: ForwardErrorCorrectionFormats?

    /// A codec with what goes with it.
    package init(
        kind: String, map: RTPMapAttribute, formatParameters: String? = nil, feedback: [FeedbackKind],
        rtxPayloadType: UInt8?, forwardErrorCorrection: ForwardErrorCorrectionFormats? = nil
    ) {
        self.kind = kind
        self.map = map
        self.formatParameters = formatParameters
        self.feedback = feedback
        self.rtxPayloadType = rtxPayloadType
        self.forwardErrorCorrection = forwardErrorCorrection
    }

    /// VP8 (RFC 7741) with every feedback that this project understands, retransmission and forward error correction.
    package static let vp8 = NegotiableCodec(
        kind: "video", map: RTPMapAttribute(payloadType: 96, encodingName: "VP8", clockRate: 90_000),
        feedback: [.nack, .pictureLoss, .fullIntraRequest, .receiverEstimatedBitrate, .transportWide],
        rtxPayloadType: 97,
        forwardErrorCorrection: ForwardErrorCorrectionFormats(red: 112, redRetransmission: 113, ulpfec: 114))
}

extension NegotiableCodec {
    /// Opus (RFC 7587) as the sound of what somebody shares: music and speech in two channels.
    package static let opusContent = opus(payloadType: 109, parameters: contentParameters, others: ";sprop-stereo=1")

    /// Opus as an attendee's voice: silence may go unsent.
    ///
    /// It has a payload type of its own: one payload type stands for one configuration in all of a bundle (RFC 9143
    /// §10.1.2).
    package static let opusVoice = opus(payloadType: 111, parameters: voiceParameters)

    /// Opus as it is received: in two channels, made up for by FEC, pauses unsent. An answer takes the offer's payload
    /// type.
    package static let opusReceived = opus(payloadType: 109, parameters: receivedParameters)

    private static func opus(
        payloadType: UInt8, parameters: OpusParameters, others: String = ""
    ) -> NegotiableCodec {
        NegotiableCodec(
            kind: "audio",
            map: RTPMapAttribute(payloadType: payloadType, encodingName: "opus", clockRate: 48_000, parameters: "2"),
            formatParameters: parameters.formatParameters + others, feedback: [.transportWide], rtxPayloadType: nil)
    }

    private static var contentParameters: OpusParameters {
        var parameters = OpusParameters()
        parameters.minimumPacketTime = .milliseconds(10)
        parameters.usesInbandFEC = true
        parameters.isStereo = true
        return parameters
    }

    private static var receivedParameters: OpusParameters {
        var parameters = contentParameters
        parameters.usesDTX = true
        return parameters
    }

    private static var voiceParameters: OpusParameters {
        var parameters = OpusParameters()
        parameters.minimumPacketTime = .milliseconds(10)
        parameters.usesInbandFEC = true
        parameters.usesDTX = true
        return parameters
    }
}
