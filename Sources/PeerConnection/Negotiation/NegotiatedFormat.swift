package import RTCShareRTP
internal import RTCShareSDP

/// A video codec of a media section: its payload format, and the payload types of its packets.
package struct NegotiatedFormat: Hashable, Sendable {
    /// The payload format.
    package let format: any VideoPayloadFormat
    /// The payload type of media.
    package let payloadType: PayloadType
    /// The payload type of retransmissions (RFC 4588); nil if there are none.
    package let retransmission: PayloadType?
    /// The peer's limits for frames that it decodes.
    package internal(set) var limits: PictureLimits

    package init(
        _ format: any VideoPayloadFormat, payloadType: PayloadType, retransmission: PayloadType? = nil,
        limits: PictureLimits = PictureLimits()
    ) {
        self.format = format
        self.payloadType = payloadType
        self.retransmission = retransmission
        self.limits = limits
    }

    package static func == (left: NegotiatedFormat, right: NegotiatedFormat) -> Bool {
        left.format === right.format && left.payloadType == right.payloadType
            && left.retransmission == right.retransmission && left.limits == right.limits
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(format))
        hasher.combine(payloadType)
    }
}

extension NegotiatedMedia {
    /// The codecs of video, in order of preference.
    package var formats: [NegotiatedFormat] {
        codecs.compactMap { codec in
            guard let format = codec.format, let payloadType = PayloadType(codec.map.payloadType) else { return nil }
            return NegotiatedFormat(
                format, payloadType: payloadType, retransmission: codec.rtxPayloadType.flatMap { PayloadType($0) },
                limits: format.parameters.limits(in: FormatParameters(codec.parameters)))
        }
    }
}

extension [any VideoPayloadFormat] {
    /// Returns the format that a payload type has in an offer of this side; nil if there is none. A later offer repeats
    /// parameters of the peer.
    func format(
        offered map: RTPMapAttribute, _ parameters: FormatParametersAttribute?
    ) -> (any VideoPayloadFormat)? {
        let name = map.encodingName.lowercased()
        return first { format in
            format.encodingName.lowercased() == name && Int(map.clockRate) == PacketizedFrame.clockRate
                && format.parameters.accepts(FormatParameters(parameters), .isReceiver)
        }
    }
}

extension FormatParameters {
    /// Creates the parameters of a payload type; nil for none.
    init(_ attribute: FormatParametersAttribute?) {
        self.init(attribute?.parameters ?? [])
    }
}
