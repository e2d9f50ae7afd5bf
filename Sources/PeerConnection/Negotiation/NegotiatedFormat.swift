package import RTCShareRTP
internal import RTCShareSDP

/// A video codec of a media section: its payload format, and the payload types of its packets.
package struct NegotiatedFormat: Sendable {
    /// The payload format.
    package let format: any VideoPayloadFormat
    /// The payload type of media.
    package let payloadType: PayloadType
    /// The payload type of retransmissions (RFC 4588); nil if there are none.
    package let retransmission: PayloadType?

    package init(_ format: any VideoPayloadFormat, payloadType: PayloadType, retransmission: PayloadType? = nil) {
        self.format = format
        self.payloadType = payloadType
        self.retransmission = retransmission
    }
}

extension NegotiatedMedia {
    /// Returns the codecs that have one of these payload formats, in order of preference.
    func formats(among formats: [any VideoPayloadFormat]) -> [NegotiatedFormat] {
        codecs.compactMap { codec in
            let name = codec.map.encodingName.lowercased()
            guard let format = formats.first(where: { $0.encodingName.lowercased() == name }),
                let payloadType = PayloadType(codec.map.payloadType)
            else { return nil }
            return NegotiatedFormat(
                format, payloadType: payloadType, retransmission: codec.rtxPayloadType.flatMap { PayloadType($0) })
        }
    }
}
