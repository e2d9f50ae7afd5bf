package import RTCShareSDP
package import RTCShareWireFormat

/// What an offer and its answer agree on, seen from this end: of either role.
package struct NegotiatedSession: Hashable, Sendable {
    /// The peer's ICE credentials.
    package var remoteICE: ICEAttributes
    /// Whether the peer only answers checks (RFC 8445 §2.5).
    package var remoteIsICELite: Bool
    /// The peer's ICE options, such as `trickle` and `ice2`.
    package var remoteICEOptions: Set<String>
    /// The peer's candidates of component 1: of UDP and others, with addresses and names.
    package var remoteCandidates: [CandidateAttribute]
    /// Whether the peer has no more candidates to tell.
    package var remoteHasAllCandidates: Bool
    /// The peer's fingerprints of sha-256 and stronger, at least one. The certificate must match one of them.
    package var remoteFingerprints: [FingerprintAttribute]
    /// This end's part in DTLS: active is the client, passive the server. No other value occurs.
    package var localSetup: SetupAttribute
    /// The sections in the order of the descriptions.
    package var sections: [NegotiatedSection]

    /// The media of the accepted sections.
    package var acceptedMedia: [NegotiatedMedia] { sections.compactMap(\.media) }

    /// The same transport with other sections.
    func replacing(sections: [NegotiatedSection]) -> NegotiatedSession {
        var session = self
        session.sections = sections
        return session
    }
}

/// What became of one media section.
package struct NegotiatedSection: Hashable, Sendable {
    /// The section's `a=mid`, as the offer says.
    package var mid: String?
    /// The `m=` line as the offer has it.
    package var line: MediaLine
    /// What was agreed; nil where the section is rejected.
    package var media: NegotiatedMedia?

    /// `video`, `audio` or another kind.
    package var kind: String { line.kind }
}

/// What was agreed for an accepted section.
package struct NegotiatedMedia: Hashable, Sendable {
    /// The section's `a=mid`, as the offer says.
    package var mid: String?
    /// Which way media flows, seen from this end.
    package var direction: DirectionAttribute
    /// Whether this end said that it would send, whatever became of that.
    package var isSendingOffered = false
    /// The codec under the payload type that packets carry.
    package var codec: RTPMapAttribute
    /// The parameters that the peer wants of the codec.
    package var codecParameters: FormatParametersAttribute?
    /// What the peer wants of Opus; nil for other codecs.
    package var opus: OpusParameters?
    /// The payload type of retransmissions (RFC 4588); nil where they were not agreed.
    package var rtxPayloadType: UInt8?
    /// The payload types of forward error correction; nil where it was not agreed.
    package var forwardErrorCorrection: ForwardErrorCorrectionFormats?
    /// The feedback that both ends understand.
    package var feedback: Set<FeedbackKind>
    /// The ids of the header extensions that packets may carry.
    package var extensionIDs: [HeaderExtensionURI: UInt8]
    /// Whether RTCP packets need not begin with a report (RFC 5506).
    package var hasReducedSizeRTCP: Bool
    /// The lowest of the peer's `b=` lines; nil where it sets no bound.
    package var maximumRate: DataRate?
    /// What this end sends.
    package var local: MediaSources
    /// What the peer sends.
    package var remote: MediaSources

    /// The payload type of the codec.
    package var payloadType: UInt8 { codec.payloadType }
}

/// The sources that one end announces for a section.
package struct MediaSources: Hashable, Sendable {
    /// The media streams with the track; empty where none is announced.
    package var streams: [MediaStreamAttribute]
    /// The SSRC of the media.
    package var ssrc: UInt32?
    /// The SSRC of retransmissions.
    package var rtxSSRC: UInt32?
    /// The canonical name.
    package var cname: String?
    /// Whether the section shows a presentation: `a=content:slides`.
    package var isSlides: Bool

    /// Nothing announced.
    static let none = MediaSources(streams: [], isSlides: false)
}

extension MediaSources {
    /// Reads what a section announces.
    init(_ section: MediaDescription) throws(SDPError) {
        let sources = try section.sources()
        let retransmission = try section.sourceGroups().first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
        ssrc = retransmission?.ssrcs.first ?? sources.first?.ssrc
        rtxSSRC = retransmission?.ssrcs.last
        cname = sources.first { $0.name == "cname" }?.value
        streams = try section.mediaStreams()
        isSlides = try section.content().contains("slides")
        // Before RFC 8830, streams were told with their sources.
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
    /// What a section of this end announces.
    init(_ section: OfferedSection) {
        streams = section.source.map { [$0.stream] } ?? []
        ssrc = section.source?.ssrc
        rtxSSRC = section.codecs.contains { $0.rtxPayloadType != nil } ? section.source?.rtxSSRC : nil
        cname = section.source?.cname
        isSlides = section.isSlides
    }
}

extension DirectionAttribute {
    /// The direction in which media flows these ways.
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
