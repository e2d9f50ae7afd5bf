package import RTCShareRTP
package import RTCShareSDP

/// The negotiated values of a codec.
package struct NegotiatedCodec: Hashable, Sendable {
    /// The values of a codec in this side's descriptions, which later ones repeat (RFC 3264 §8.3.2).
    package struct Local: Hashable, Sendable {
        /// The payload type.
        package let payloadType: UInt8
        /// The payload type of retransmissions; nil for none.
        package let rtxPayloadType: UInt8?
        /// The value of `a=fmtp`; nil for that of the payload format's offers.
        package let formatParameters: String?

        package init(payloadType: UInt8, rtxPayloadType: UInt8?, formatParameters: String? = nil) {
            self.payloadType = payloadType
            self.rtxPayloadType = rtxPayloadType
            self.formatParameters = formatParameters
        }
    }

    /// The encoding, with the payload type of packets.
    package var map: RTPMapAttribute
    /// The peer's parameters.
    package var parameters: FormatParametersAttribute?
    /// The payload type of retransmissions (RFC 4588); nil if it was not negotiated.
    package var rtxPayloadType: UInt8?
    /// The payload format of video; nil for audio.
    package var format: (any VideoPayloadFormat)?
    /// The feedback that both sides support.
    package var feedback: Set<FeedbackKind>
    /// The values in this side's descriptions.
    package var local: Local

    package init(
        map: RTPMapAttribute, parameters: FormatParametersAttribute? = nil, rtxPayloadType: UInt8? = nil,
        format: (any VideoPayloadFormat)? = nil, feedback: Set<FeedbackKind> = [], local: Local? = nil
    ) {
        self.map = map
        self.parameters = parameters
        self.rtxPayloadType = rtxPayloadType
        self.format = format
        self.feedback = feedback
        self.local = local ?? Local(payloadType: map.payloadType, rtxPayloadType: rtxPayloadType)
    }

    package static func == (left: NegotiatedCodec, right: NegotiatedCodec) -> Bool {
        left.map == right.map && left.parameters == right.parameters && left.rtxPayloadType == right.rtxPayloadType
            && left.format === right.format && left.feedback == right.feedback && left.local == right.local
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(map)
        hasher.combine(parameters)
    }
}
