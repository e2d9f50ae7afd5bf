internal import RTCShareRTP
package import RTCShareSDP
package import RTCShareWireFormat

/// The result of an offer and its answer, as this side sees it in either role.
package struct NegotiatedSession: Hashable, Sendable {
    /// The peer's ICE credentials.
    package var remoteICE: ICEAttributes
    /// Whether the peer is an ICE-lite agent, which only answers checks (RFC 8445 §2.5).
    package var remoteIsICELite: Bool
    /// The peer's ICE options, such as `trickle` and `ice2`.
    package var remoteICEOptions: Set<String>
    /// The peer's candidates of component 1: of UDP and other protocols, with addresses or names.
    package var remoteCandidates: [CandidateAttribute]
    /// Whether the peer's candidates are complete.
    package var remoteHasAllCandidates: Bool
    /// The peer's fingerprints of SHA-256 or stronger, at least one. The certificate must match one of them.
    package var remoteFingerprints: [FingerprintAttribute]
    /// This side's DTLS role: active is the client, passive the server. No other value occurs.
    package var localSetup: SetupAttribute
    /// The sections in the order of the descriptions.
    package var sections: [NegotiatedSection]

    /// The media of the accepted sections.
    package var acceptedMedia: [NegotiatedMedia] { sections.compactMap(\.media) }

    /// Returns the same transport with other sections.
    func replacing(sections: [NegotiatedSection]) -> NegotiatedSession {
        var session = self
        session.sections = sections
        return session
    }
}

/// The result for one media section.
package struct NegotiatedSection: Hashable, Sendable {
    /// The section's `a=mid` in the offer.
    package var mid: String?
    /// The `m=` line in the offer.
    package var line: MediaLine
    /// The negotiated media; nil if the section is rejected.
    package var media: NegotiatedMedia?

    /// The media type: `video`, `audio` or another one.
    package var kind: String { line.kind }
}

/// The negotiated values of an accepted section.
package struct NegotiatedMedia: Hashable, Sendable {
    /// The section's `a=mid` in the offer.
    package var mid: String?
    /// The direction of media, as this side sees it.
    package var direction: DirectionAttribute
    /// Whether this side offered to send, even if the peer does not receive.
    package var isSendingOffered = false
    /// The codecs that both sides support, at least one, in the order of preference.
    package var codecs: [NegotiatedCodec]
    /// The peer's parameters of Opus; nil for other codecs.
    package var opus: OpusParameters?
    /// The payload types of forward error correction; nil if it was not negotiated.
    package var forwardErrorCorrection: ForwardErrorCorrectionFormats?
    /// The ids of the header extensions that packets can have.
    package var extensionIDs: [HeaderExtensionURI: UInt8]
    /// The layers of this side's simulcast that the peer accepts, the best first; empty if a single stream is sent.
    package var layers: [NegotiatedLayer] = []
    /// Whether RTCP packets need not begin with a report (RFC 5506).
    package var hasReducedSizeRTCP: Bool
    /// The lowest of the peer's `b=` lines; nil if there is none.
    package var maximumRate: DataRate?
    /// The sources that this side sends.
    package var local: MediaSources
    /// The sources that the peer sends.
    package var remote: MediaSources

    /// The preferred codec, with the payload type of packets.
    package var codec: RTPMapAttribute { codecs[0].map }
    /// The feedback that both sides support, for one codec at least. Feedback is sent on a stream, whose codec can
    /// change with each frame, and a sender ignores what it does not support for one.
    package var feedback: Set<FeedbackKind> { codecs.reduce([]) { $0.union($1.feedback) } }
    /// The payload type of the preferred codec.
    package var payloadType: UInt8 { codec.payloadType }
    /// The payload type of its retransmissions (RFC 4588); nil if it was not negotiated.
    package var rtxPayloadType: UInt8? { codecs[0].rtxPayloadType }
}

/// The result for one layer of a simulcast.
package struct NegotiatedLayer: Hashable, Sendable {
    /// The layer's `a=rid`.
    package let id: String
    /// Whether the peer does not want it for now (RFC 8853 §5.1).
    package let isPaused: Bool
    /// The payload types that the peer accepts for it; empty for all of the section.
    let payloadTypes: [UInt8]
    /// The peer's maximum bitrate of it, `max-br` (RFC 8851 §5); nil for no limit.
    let maximumBitrate: DataRate?
    /// The peer's limits of its frames: `max-fs`, `max-width` and `max-height`, and `max-fps`.
    let pictures: PictureLimits

    init(_ accepted: SimulcastAttribute.Stream, _ restrictions: RTPStreamAttribute?) {
        id = accepted.id
        isPaused = accepted.isPaused
        payloadTypes = restrictions?.payloadTypes ?? []
        maximumBitrate = restrictions?.limit("max-br").flatMap { Int(exactly: $0.rounded(.up)) }
            .map { .bitsPerSecond($0) }
        // Whole macroblocks of both sides, and of the area without its shape.
        let (width, height) = (restrictions?.limit("max-width"), restrictions?.limit("max-height"))
        let area = width.flatMap { width in
            height.map { (width / 16).rounded(.up) * ($0 / 16).rounded(.up) * 256 }
        }
        let pixels = [restrictions?.limit("max-fs"), area].compactMap(\.self).min()
        pictures = PictureLimits(
            maximumMacroblocks: pixels.flatMap { Int(exactly: ($0 / 256).rounded(.down)) },
            maximumFramesPerSecond: restrictions?.limit("max-fps"))
    }

    /// Returns the formats that the peer accepts for this layer, with its limits.
    func limiting(_ formats: [NegotiatedFormat]) -> [NegotiatedFormat] {
        formats.filter { payloadTypes.isEmpty || payloadTypes.contains($0.payloadType.rawValue) }.map { format in
            var format = format
            format.limits = format.limits.limited(to: pictures)
            return format
        }
    }
}

/// The sources that one side announces for a section.
package struct MediaSources: Hashable, Sendable {
    /// The media streams with the track; empty if none is announced.
    package var streams: [MediaStreamAttribute]
    /// The SSRC of the media.
    package var ssrc: UInt32?
    /// The SSRC of retransmissions.
    package var rtxSSRC: UInt32?
    /// The CNAME.
    package var cname: String?
    /// Whether the section shows a presentation: `a=content:slides`.
    package var isSlides: Bool

    /// No announced sources.
    static let none = MediaSources(streams: [], isSlides: false)
}

extension MediaSources {
    /// Reads the sources of a section.
    init(_ section: MediaDescription) throws(SDPError) {
        let sources = try section.sources()
        let retransmission = try section.sourceGroups().first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
        ssrc = retransmission?.ssrcs.first ?? sources.first?.ssrc
        rtxSSRC = retransmission?.ssrcs.last
        cname = sources.first { $0.name == "cname" }?.value
        streams = try section.mediaStreams()
        isSlides = try section.content().contains("slides")
        // Before RFC 8830, `a=ssrc` lines contained the streams.
        if streams.isEmpty, let old = sources.first(where: { $0.name == "msid" })?.value {
            let words = old.split(separator: " ")
            if let stream = words.first {
                let track = words.count > 1 ? String(words[1]) : nil
                streams = [MediaStreamAttribute(streamID: String(stream), trackID: track)]
            }
        }
    }
}

extension MediaSources {
    /// Creates the sources of a section of this side.
    init(_ section: OfferedSection) {
        streams = section.source.map { [$0.stream] } ?? []
        ssrc = section.source?.ssrc
        rtxSSRC = section.codecs.contains { $0.rtxPayloadType != nil } ? section.source?.rtxSSRC : nil
        cname = section.source?.cname
        isSlides = section.isSlides
    }
}

extension DirectionAttribute {
    /// Creates the direction from its two parts.
    init(sends: Bool, receives: Bool) {
        self =
            switch (sends, receives) {
            case (true, true): .sendReceive
            case (true, false): .sendOnly
            case (false, true): .receiveOnly
            case (false, false): .inactive
            }
    }
}
