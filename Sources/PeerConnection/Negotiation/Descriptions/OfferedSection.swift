package import RTCShareSDP

/// A media section to offer.
package struct OfferedSection: Sendable {
    /// The section's `a=mid`.
    package var mid: String
    /// The codecs in order of preference, all of one media type.
    package var codecs: [NegotiableCodec]
    /// Whether an answer has only these codecs, in this order, instead of all codecs in the order of the offer
    /// (RFC 9429 §5.3.1).
    package var hasCodecPreferences = false
    /// The header extensions with their ids. One extension must have the same id in all sections.
    package var extensions: [ExtensionMapAttribute]
    /// The offered direction of media.
    package var direction: DirectionAttribute
    /// The sent sources; nil for a section that only receives.
    package var source: Source?
    /// Whether the media is a presentation: `a=content:slides` (RFC 4796).
    package var isSlides: Bool
    /// The `m=` line of a section that has ended, which keeps its place with port 0 (RFC 3264 §8.2); nil for others.
    package var ended: MediaLine?

    /// The sources that a section sends.
    package struct Source: Hashable, Sendable {
        /// The media stream and the track.
        package var stream: MediaStreamAttribute
        /// The SSRC of the media.
        package var ssrc: UInt32
        /// The SSRC of retransmissions, if a codec has them.
        package var rtxSSRC: UInt32?
        /// The CNAME (RFC 3550 §6.5.1).
        package var cname: String
        /// The ids of the RTP streams of a simulcast, the best first (RFC 8853); empty for a single stream. The peer
        /// identifies their packets by these ids instead of their sources.
        package var layers: [String] = []

        package init(
            stream: MediaStreamAttribute, ssrc: UInt32, rtxSSRC: UInt32? = nil, cname: String, layers: [String] = []
        ) {
            self.layers = layers
            self.stream = stream
            self.ssrc = ssrc
            self.rtxSSRC = rtxSSRC
            self.cname = cname
        }
    }

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

    /// The offered payload types of forward error correction, which all codecs of a section share; nil for none.
    var forwardErrorCorrection: ForwardErrorCorrectionFormats? {
        codecs.lazy.compactMap(\.forwardErrorCorrection).first
    }

    /// Returns a section for sending video. Slides are a screen share.
    package static func video(
        mid: String = "0", codecs: [NegotiableCodec] = NegotiableCodec.video(), source: Source, isSlides: Bool,
        direction: DirectionAttribute = .sendOnly
    ) -> OfferedSection {
        OfferedSection(
            mid: mid, codecs: codecs,
            extensions: videoExtensions(of: codecs) + (source.layers.isEmpty ? [] : layerExtensions),
            direction: direction, source: source, isSlides: isSlides)
    }

    /// Returns a section for sending audio: Opus. That of a screen share is stereo.
    package static func audio(
        mid: String, source: Source, isSlides: Bool, direction: DirectionAttribute = .sendOnly
    ) -> OfferedSection {
        OfferedSection(
            mid: mid, codecs: [isSlides ? .opusContent : .opusVoice], extensions: audioExtensions,
            direction: direction, source: source, isSlides: isSlides)
    }

    /// Returns a section that has ended, which only keeps its place.
    package static func ended(mid: String, line: MediaLine) -> OfferedSection {
        var section = OfferedSection(
            mid: mid, codecs: [], extensions: [], direction: .inactive, source: nil, isSlides: false)
        section.ended = line
        return section
    }

    /// Returns the header extensions of video with these codecs, with their offered ids.
    package static func videoExtensions(of codecs: [NegotiableCodec]) -> [ExtensionMapAttribute] {
        guard codecs.contains(where: \.usesDependencyDescriptor) else { return videoExtensions }
        return videoExtensions
            + [ExtensionMapAttribute(id: 8, uri: HeaderExtensionURI.dependencyDescriptor.rawValue)]
    }

    private static let videoExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 1, uri: HeaderExtensionURI.mid.rawValue),
        ExtensionMapAttribute(id: 2, uri: HeaderExtensionURI.absoluteSendTime.rawValue),
        ExtensionMapAttribute(id: 3, uri: HeaderExtensionURI.transportWideSequenceNumber.rawValue),
        ExtensionMapAttribute(id: 4, uri: HeaderExtensionURI.videoOrientation.rawValue),
        ExtensionMapAttribute(id: 5, uri: HeaderExtensionURI.playoutDelay.rawValue),
        ExtensionMapAttribute(id: 6, uri: HeaderExtensionURI.videoContentType.rawValue),
    ]

    /// The header extensions that identify the packets of a simulcast, with their offered ids.
    private static let layerExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 9, uri: HeaderExtensionURI.streamIdentification.rawValue),
        ExtensionMapAttribute(id: 10, uri: HeaderExtensionURI.repairedStreamIdentification.rawValue),
    ]

    /// The header extensions of audio, with their offered ids.
    package static let audioExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 1, uri: HeaderExtensionURI.mid.rawValue),
        ExtensionMapAttribute(id: 2, uri: HeaderExtensionURI.absoluteSendTime.rawValue),
        ExtensionMapAttribute(id: 3, uri: HeaderExtensionURI.transportWideSequenceNumber.rawValue),
        ExtensionMapAttribute(id: 7, uri: HeaderExtensionURI.audioLevel.rawValue),
    ]
}

/// An `m=` line without its port.
package struct MediaLine: Hashable, Sendable {
    /// The media type: `video`, `audio` or another one.
    package var kind: String
    /// The transport protocol, such as `UDP/TLS/RTP/SAVPF`.
    package var `protocol`: String
    /// The formats: payload types for RTP, other names for other protocols.
    package var formats: [String]

    /// Creates the line of a section.
    package init(_ section: MediaDescription) {
        kind = section.kind
        self.protocol = section.protocol
        formats = section.formats
    }
}
