package import RTCShareSDP

/// A media section to offer.
package struct OfferedSection: Hashable, Sendable {
    /// The section's `a=mid`.
    package var mid: String
    /// The codecs, best first; all of one kind.
    package var codecs: [NegotiableCodec]
    /// The header extensions with their ids. One extension must have one id in all sections.
    package var extensions: [ExtensionMapAttribute]
    /// Which way media is to flow.
    package var direction: DirectionAttribute
    /// The sources that are sent; nil for a section that only receives.
    package var source: Source?
    /// Whether it shows a presentation: `a=content:slides` (RFC 4796).
    package var isSlides: Bool
    /// The `m=` line of a section that has ended, which keeps its place with port 0 (RFC 3264 §8.2); nil for others.
    package var ended: MediaLine?

    /// What a section sends.
    package struct Source: Hashable, Sendable {
        /// The media stream and track that are sent.
        package var stream: MediaStreamAttribute
        /// The SSRC of the media.
        package var ssrc: UInt32
        /// The SSRC of retransmissions, where a codec has them.
        package var rtxSSRC: UInt32?
        /// The canonical name of RFC 3550 §6.5.1.
        package var cname: String

        /// Sources with everything said.
        package init(stream: MediaStreamAttribute, ssrc: UInt32, rtxSSRC: UInt32? = nil, cname: String) {
            self.stream = stream
            self.ssrc = ssrc
            self.rtxSSRC = rtxSSRC
            self.cname = cname
        }
    }

    /// A section with everything said.
    package init(
        mid: String, codecs: [NegotiableCodec], extensions: [ExtensionMapAttribute], direction: DirectionAttribute,
        source: Source?, isSlides: Bool
    ) {
        self.mid = mid
        self.codecs = codecs
        self.extensions = extensions
        self.direction = direction
        self.source = source
        self.isSlides = isSlides
    }

    /// Video: VP8 with retransmission, sent only. Slides are what somebody shares.
    package static func video(
        mid: String = "0", source: Source, isSlides: Bool, direction: DirectionAttribute = .sendOnly
    ) -> OfferedSection {
        OfferedSection(
            mid: mid, codecs: [.vp8], extensions: videoExtensions, direction: direction, source: source,
            isSlides: isSlides)
    }

    /// Sound: Opus, sent only. That of what somebody shares is stereo.
    package static func audio(
        mid: String, source: Source, isSlides: Bool, direction: DirectionAttribute = .sendOnly
    ) -> OfferedSection {
        OfferedSection(
            mid: mid, codecs: [isSlides ? .opusContent : .opusVoice], extensions: audioExtensions,
            direction: direction, source: source, isSlides: isSlides)
    }

    /// A section that has ended: it says no more than that it was there.
    package static func ended(mid: String, line: MediaLine) -> OfferedSection {
        var section = OfferedSection(
            mid: mid, codecs: [], extensions: [], direction: .inactive, source: nil, isSlides: false)
        section.ended = line
        return section
    }

    /// The header extensions that video is offered with, under their ids.
    package static let videoExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 1, uri: HeaderExtensionURI.mid.rawValue),
        ExtensionMapAttribute(id: 2, uri: HeaderExtensionURI.absoluteSendTime.rawValue),
        ExtensionMapAttribute(id: 3, uri: HeaderExtensionURI.transportWideSequenceNumber.rawValue),
        ExtensionMapAttribute(id: 4, uri: HeaderExtensionURI.videoOrientation.rawValue),
        ExtensionMapAttribute(id: 5, uri: HeaderExtensionURI.playoutDelay.rawValue),
        ExtensionMapAttribute(id: 6, uri: HeaderExtensionURI.videoContentType.rawValue),
    ]

    /// Those that sound is offered with.
    package static let audioExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 1, uri: HeaderExtensionURI.mid.rawValue),
        ExtensionMapAttribute(id: 2, uri: HeaderExtensionURI.absoluteSendTime.rawValue),
        ExtensionMapAttribute(id: 3, uri: HeaderExtensionURI.transportWideSequenceNumber.rawValue),
        ExtensionMapAttribute(id: 7, uri: HeaderExtensionURI.audioLevel.rawValue),
    ]
}

/// An `m=` line but for its port.
package struct MediaLine: Hashable, Sendable {
    /// `video`, `audio` or another kind.
    package var kind: String
    /// Such as `UDP/TLS/RTP/SAVPF`.
    package var `protocol`: String
    /// Payload types of RTP, other names for other protocols.
    package var formats: [String]

    /// The line of a section.
    package init(_ section: MediaDescription) {
        kind = section.kind
        self.protocol = section.protocol
        formats = section.formats
    }
}
