package import RTCShareRTP
package import RTCShareSDP

/// A codec for an offer, against which an answer is matched.
package struct NegotiableCodec: Hashable, Sendable {
    /// The media type: `video` or `audio`.
    package var kind: String
    /// The encoding and its offered payload type.
    package var map: RTPMapAttribute
    /// The value of its `a=fmtp`, without the payload type.
    package var formatParameters: String?
    /// The supported feedback.
    package var feedback: [FeedbackKind]
    /// The offered payload type of retransmissions (RFC 4588); nil for none.
    package var rtxPayloadType: UInt8?
    /// The offered payload types of forward error correction; nil for none.
    package var forwardErrorCorrection: ForwardErrorCorrectionFormats?
    /// Whether packets have the dependency descriptor extension, if the peer accepts it.
    package var usesDependencyDescriptor = false

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

    /// The feedback on video.
    static let videoFeedback: [FeedbackKind] = [
        .nack, .pictureLoss, .fullIntraRequest, .receiverEstimatedBitrate, .transportWide,
    ]

    /// Returns the video codecs with these payload formats, in order of preference, with all feedback that this project
    /// supports, retransmission and forward error correction.
    package static func video(_ formats: [any VideoPayloadFormat] = VideoPayloadFormats.all) -> [NegotiableCodec] {
        zip(stride(from: 96 as UInt8, to: 112, by: 2), formats).map { payloadType, format in
            var codec = NegotiableCodec(
                kind: "video",
                map: RTPMapAttribute(
                    payloadType: payloadType, encodingName: format.encodingName,
                    clockRate: UInt32(PacketizedFrame.clockRate)),
                feedback: videoFeedback, rtxPayloadType: payloadType + 1,
                forwardErrorCorrection: ForwardErrorCorrectionFormats(red: 112, redRetransmission: 113, ulpfec: 114))
            codec.usesDependencyDescriptor = format.usesDependencyDescriptor
            return codec
        }
    }
}

extension NegotiableCodec {
    /// Opus (RFC 7587) for the audio of a screen share: music and speech in two channels.
    package static let opusContent = opus(payloadType: 109, parameters: contentParameters, others: ";sprop-stereo=1")

    /// Opus for a microphone: silence can be omitted (DTX).
    ///
    /// It has its own payload type, since one payload type has one configuration in the whole bundle (RFC 9143
    /// §10.1.2).
    package static let opusVoice = opus(payloadType: 111, parameters: voiceParameters)

    /// Opus for receiving: two channels, with FEC and DTX. An answer uses the offer's payload type.
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
