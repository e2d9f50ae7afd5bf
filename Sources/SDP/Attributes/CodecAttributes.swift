/// `a=rtpmap`: the encoding of a payload type (RFC 8866 §6.6).
package struct RTPMapAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The payload type, 0 to 127.
    package let payloadType: UInt8
    /// The encoding's name, such as `VP8`; compared without regard to case.
    package let encodingName: String
    /// The RTP timestamp units in a second; 0 if the line has no valid rate, which no codec uses.
    package let clockRate: UInt32
    /// The number of channels, for audio.
    package let parameters: String?

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
        // The other codecs of a section stay usable if one that this project doesn't know has an unusual format.
        self.init(
            payloadType: payloadType, encodingName: String(parts[0]),
            clockRate: parts.count > 1 ? parts[1].decimal(UInt32.self) ?? 0 : 0,
            parameters: parts.count == 3 ? String(parts[2]) : nil)
    }

    /// Returns the same encoding with another payload type.
    package func with(payloadType: UInt8) -> RTPMapAttribute {
        RTPMapAttribute(
            payloadType: payloadType, encodingName: encodingName, clockRate: clockRate, parameters: parameters)
    }

    /// Whether this is the same encoding, whatever its payload type. A missing number of channels counts as one.
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
    /// The format in the `m=` line.
    package let format: String
    /// The parameters, as written.
    package let text: String

    package init(format: String, text: String) {
        self.format = format
        self.text = text
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 2)
        guard let format = fields.first, format.isToken else { return nil }
        // Some writers end the line after the format if there are no parameters.
        self.init(format: String(format), text: fields.count == 2 ? String(fields[1]) : "")
    }

    /// Returns the parameters of two lines of a format.
    package static func + (first: FormatParametersAttribute, second: FormatParametersAttribute)
        -> FormatParametersAttribute
    {
        FormatParametersAttribute(format: first.format, text: first.text + ";" + second.text)
    }

    /// The value of a parameter in the form `name=value`. Names are compared without regard to case.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The parameters, in order. A parameter without `=` has no value.
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

    package init(_ text: some StringProtocol) {
        description = String(text).fields.joined(separator: " ")
    }

    /// Reports of lost packets (RFC 4585 §6.2.1).
    package static let nack = FeedbackKind("nack")
    /// Picture loss indications (RFC 4585 §6.3.1).
    package static let pictureLoss = FeedbackKind("nack pli")
    /// Full intra requests (RFC 5104 §4.3.1).
    package static let fullIntraRequest = FeedbackKind("ccm fir")
    /// Requests for a maximum bitrate (RFC 5104 §4.2).
    package static let temporaryMaximumBitrate = FeedbackKind("ccm tmmbr")
    /// The receiver's estimate of the available bitrate (draft-alvestrand-rmcat-remb).
    package static let receiverEstimatedBitrate = FeedbackKind("goog-remb")
    /// The arrival times of all packets (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    package static let transportWide = FeedbackKind("transport-cc")
}

/// `a=rtcp-fb`: feedback for a payload type, or for all (RFC 4585 §4.2).
package struct FeedbackAttribute: Hashable, Sendable {
    /// The payload type, nil for `*`.
    package let payloadType: UInt8?
    /// The kind of feedback.
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

/// The URI of a header extension in `a=extmap`.
package enum HeaderExtensionURI: String, Hashable, Sendable, CaseIterable {
    /// The section's `a=mid` in a packet (RFC 9143 §15).
    case mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    /// A sequence number that counts all packets of a transport.
    case transportWideSequenceNumber = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// The time at which the packet was sent.
    case absoluteSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    /// The rotation of the video (3GPP TS 26.114 §7.4.5).
    case videoOrientation = "urn:3gpp:video-orientation"
    /// The minimum and maximum delay before a receiver shows the frame.
    case playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    /// The content type of the video, such as a screen.
    case videoContentType = "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type"
    /// The audio level of the packet (RFC 6464).
    case audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    /// The number of a frame and the frames that it depends on (AV1 RTP, appendix A).
    case dependencyDescriptor =
        "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
    /// The `a=rid` of a packet's RTP stream (RFC 8852 §3.1).
    case streamIdentification = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    /// The `a=rid` of the RTP stream whose packets are retransmitted (RFC 8852 §3.2).
    case repairedStreamIdentification = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
}

/// `a=extmap`: the number of a header extension (RFC 8285 §8).
package struct ExtensionMapAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The local identifier: 1 to 14 in one-byte headers, up to 255 in two-byte ones. 4096 to 4351 request an
    /// identifier.
    package let id: UInt16
    /// The direction in which packets carry the extension, if the line names one of the four.
    package let direction: DirectionAttribute?
    /// The extension's URI.
    package let uri: String
    /// The attributes after the URI.
    package let attributes: String?

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
