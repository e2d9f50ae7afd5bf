package import RTCShareRTP
package import RTCShareSDP

/// A codec for an offer, against which an answer is matched.
package struct NegotiableCodec: Sendable {
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
    /// The payload format of video, whose rules for parameters apply; nil for audio, which accepts all.
    var format: (any VideoPayloadFormat)?
    /// Whether packets have the dependency descriptor extension, if the peer accepts it.
    package var usesDependencyDescriptor: Bool { format?.usesDependencyDescriptor ?? false }

    package init(
        kind: String, map: RTPMapAttribute, formatParameters: String? = nil, feedback: [FeedbackKind],
        rtxPayloadType: UInt8?, forwardErrorCorrection: ForwardErrorCorrectionFormats? = nil,
        format: (any VideoPayloadFormat)? = nil
    ) {
        self.kind = kind
        self.map = map
        self.formatParameters = formatParameters
        self.feedback = feedback
        self.rtxPayloadType = rtxPayloadType
        self.forwardErrorCorrection = forwardErrorCorrection
        self.format = format
    }

    /// Whether a payload type of the peer has this configuration.
    func accepts(
        _ map: RTPMapAttribute, _ parameters: FormatParametersAttribute?, _ leniency: FormatLeniency
    ) -> Bool {
        self.map.isSameEncoding(as: map) && format?.parameters.accepts(FormatParameters(parameters), leniency) ?? true
    }

    /// The feedback on video.
    static let videoFeedback: [FeedbackKind] = [
        .nack, .pictureLoss, .fullIntraRequest, .temporaryMaximumBitrate, .receiverEstimatedBitrate, .transportWide,
    ]

    /// The payload types of video codecs, each of which is followed by that of its retransmissions. Those of Opus and of
    /// forward error correction are not among them.
    private static let payloadTypes =
        Array(stride(from: 96, to: 108, by: 2)) + Array(stride(from: 35, to: 63, by: 2)) as [UInt8]

    /// Returns the video codecs with these payload formats, in order of preference, with all feedback that this project
    /// supports, retransmission and forward error correction.
    ///
    /// - Parameter preferences: The formats to return, in order; if it has none of `formats`, all of them. Their payload
    ///   types don't depend on it.
    package static func video(
        _ formats: [any VideoPayloadFormat] = VideoPayloadFormats.basic,
        preferring preferences: [any VideoPayloadFormat] = []
    ) -> [NegotiableCodec] {
        let codecs = zip(payloadTypes, formats).map { payloadType, format in
            NegotiableCodec(
                kind: "video",
                map: RTPMapAttribute(
                    payloadType: payloadType, encodingName: format.encodingName,
                    clockRate: UInt32(PacketizedFrame.clockRate)),
                formatParameters: format.parameters.offered, feedback: videoFeedback, rtxPayloadType: payloadType + 1,
                forwardErrorCorrection: ForwardErrorCorrectionFormats(red: 112, redRetransmission: 113, ulpfec: 114),
                format: format)
        }
        let preferred = preferences.compactMap { format in codecs.first { $0.format === format } }
        return preferred.isEmpty ? codecs : preferred
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
