/// `a=rtpmap`: what a payload type stands for (RFC 8866 §6.6).
package struct RTPMapAttribute: Hashable, Sendable, CustomStringConvertible {
    /// 0 to 127.
    package let payloadType: UInt8
    /// Such as `VP8`; compared without regard to case.
    package let encodingName: String
    /// RTP timestamp units in a second; 0 where the line names none, as no codec has.
    package let clockRate: UInt32
    /// For audio the number of channels.
    package let parameters: String?

    /// A payload type's meaning.
    package init(payloadType: UInt8, encodingName: String, clockRate: UInt32, parameters: String? = nil) {
        self.payloadType = payloadType
        self.encodingName = encodingName
        self.clockRate = clockRate
        self.parameters = parameters
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 2)
        guard fields.count == 2, let payloadType = fields[0].decimal(UInt8.self), payloadType < 128 else { return nil }
        let parts = fields[1].parts(at: "/", atMost: 3)
        // A codec that is of no use here is no reason to refuse the others of its section, however it is written.
        self.init(
            payloadType: payloadType, encodingName: String(parts[0]),
            clockRate: parts.count > 1 ? parts[1].decimal(UInt32.self) ?? 0 : 0,
            parameters: parts.count == 3 ? String(parts[2]) : nil)
    }

    /// Whether this is the same encoding, whatever its payload type; one channel and none said are the same.
    package func isSameEncoding(as other: RTPMapAttribute) -> Bool {
        encodingName.lowercased() == other.encodingName.lowercased() && clockRate == other.clockRate
            && (parameters ?? "1") == (other.parameters ?? "1")
    }

    /// The value of the line.
    package var description: String {
        "\(payloadType) \(encodingName)/\(clockRate)" + (parameters.map { "/\($0)" } ?? "")
    }
}

/// `a=fmtp`: parameters of a format (RFC 8866 §6.15).
package struct FormatParametersAttribute: Hashable, Sendable {
    /// The format as it stands in the `m=` line.
    package let format: String
    /// What follows, as it was written.
    package let text: String

    /// Parameters of a format.
    package init(format: String, text: String) {
        self.format = format
        self.text = text
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 2)
        guard let format = fields.first, format.isToken else { return nil }
        // Some writers end the line after the format, having nothing to say.
        self.init(format: String(format), text: fields.count == 2 ? String(fields[1]) : "")
    }

    /// The value of a parameter written `name=value`; names are compared without regard to case.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The parameters, in order; one without `=` has no value.
    package var parameters: [(name: String, value: String?)] {
        text.parts(at: ";").compactMap { item in
            let parts = item.parts(at: "=", atMost: 2)
            let name = parts[0].fields.joined(separator: " ")
            guard !name.isEmpty else { return nil }
            return (name, parts.count == 2 ? parts[1].fields.joined(separator: " ") : nil)
        }
    }
}

/// A kind of RTCP feedback, such as `nack pli` (RFC 4585 §4.2).
package struct FeedbackKind: Hashable, Sendable, CustomStringConvertible {
    /// The words after the payload type, with one space between them.
    package let description: String

    /// A kind by its words.
    package init(_ text: some StringProtocol) {
        description = String(text).fields.joined(separator: " ")
    }

    /// Lost packets are named (RFC 4585 §6.2.1).
    package static let nack = FeedbackKind("nack")
    /// A picture was lost (RFC 4585 §6.3.1).
    package static let pictureLoss = FeedbackKind("nack pli")
    /// A full picture is asked for (RFC 5104 §4.3.1).
    package static let fullIntraRequest = FeedbackKind("ccm fir")
    /// The receiver's estimate of the rate (draft-alvestrand-rmcat-remb).
    package static let receiverEstimatedBitrate = FeedbackKind("goog-remb")
    /// Arrival times of all packets (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    package static let transportWide = FeedbackKind("transport-cc")
}

/// `a=rtcp-fb`: feedback for a payload type, or for all (RFC 4585 §4.2).
package struct FeedbackAttribute: Hashable, Sendable {
    /// The payload type, nil for `*`.
    package let payloadType: UInt8?
    /// What is fed back.
    package let kind: FeedbackKind

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 2)
        guard fields.count == 2 else { return nil }
        if fields[0] == "*" {
            payloadType = nil
        } else {
            guard let value = fields[0].decimal(UInt8.self), value < 128 else { return nil }
            payloadType = value
        }
        kind = FeedbackKind(fields[1])
        if kind.description.isEmpty { return nil }
    }
}

/// A header extension's name as `a=extmap` writes it.
package enum HeaderExtensionURI: String, Hashable, Sendable, CaseIterable {
    /// The section's `a=mid` in a packet (RFC 9143 §15).
    case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    /// A sequence number over all of a transport's packets.
    case transportWideSequenceNumber = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// When the packet was sent.
    case absoluteSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    /// How the picture is turned (3GPP TS 26.114 §7.4.5).
    case videoOrientation = "urn:3gpp:video-orientation"
    /// How long a receiver should hold the picture.
    case playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    /// Whether the picture is of a screen.
    case videoContentType = "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type"
    /// The loudness of the packet (RFC 6464).
    case audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
}

/// `a=extmap`: the number of a header extension (RFC 8285 §8).
package struct ExtensionMapAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The local identifier: 1 to 14 in one-byte headers, to 255 in two-byte ones; 4096 to 4351 ask for a number.
    package let id: UInt16
    /// Which way packets carry it, where the line names one of the four.
    package let direction: DirectionAttribute?
    /// The extension's name.
    package let uri: String
    /// What follows the name.
    package let attributes: String?

    /// An extension under a number.
    package init(id: UInt16, direction: DirectionAttribute? = nil, uri: String) {
        self.id = id
        self.direction = direction
        self.uri = uri
        attributes = nil
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 3)
        guard fields.count >= 2 else { return nil }
        let number = fields[0].parts(at: "/", atMost: 2)
        guard let id = number[0].decimal(UInt16.self), (1...255).contains(id) || (4096...4351).contains(id) else {
            return nil
        }
        self.id = id
        direction = number.count == 2 ? DirectionAttribute(rawValue: String(number[1])) : nil
        uri = String(fields[1])
        attributes = fields.count == 3 ? String(fields[2]) : nil
    }

    /// The value of the line.
    package var description: String {
        "\(id)" + (direction.map { "/\($0.rawValue)" } ?? "") + " \(uri)" + (attributes.map { " \($0)" } ?? "")
    }
}
