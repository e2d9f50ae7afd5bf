public import SDP

/// What identifies this end of a transport, in an offer and in an answer alike.
public struct TransportParameters: Hashable, Sendable {
    /// The ICE credentials.
    public var ice: ICEAttributes
    /// The words of `a=ice-options`; `ice2` says RFC 8445. `trickle` would promise to take candidates later.
    public var iceOptions: [String]
    /// The certificate's fingerprints.
    public var fingerprints: [FingerprintAttribute]
    /// The candidates that are known.
    public var candidates: [CandidateAttribute]
    /// Whether no more will come.
    public var hasAllCandidates: Bool

    /// A transport, by default with all its candidates.
    public init(
        ice: ICEAttributes, iceOptions: [String] = ["ice2"], fingerprints: [FingerprintAttribute],
        candidates: [CandidateAttribute], hasAllCandidates: Bool = true
    ) {
        self.ice = ice
        self.iceOptions = iceOptions
        self.fingerprints = fingerprints
        self.candidates = candidates
        self.hasAllCandidates = hasAllCandidates
    }
}

/// A media section to offer.
public struct OfferedSection: Hashable, Sendable {
    /// The section's `a=mid`.
    public var mid: String
    /// The codecs, best first; all of one kind.
    public var codecs: [NegotiableCodec]
    /// The header extensions with their ids. One extension must have one id in all sections.
    public var extensions: [ExtensionMapAttribute]
    /// Which way media is to flow.
    public var direction: DirectionAttribute
    /// The media stream and track that are sent.
    public var stream: MediaStreamAttribute
    /// Whether it shows a presentation: `a=content:slides` (RFC 4796).
    public var isSlides: Bool
    /// The SSRC of the media.
    public var ssrc: UInt32
    /// The SSRC of retransmissions, where a codec has them.
    public var rtxSSRC: UInt32?
    /// The canonical name of RFC 3550 §6.5.1.
    public var cname: String

    /// A section with everything said.
    public init(
        mid: String, codecs: [NegotiableCodec], extensions: [ExtensionMapAttribute], direction: DirectionAttribute,
        stream: MediaStreamAttribute, isSlides: Bool, ssrc: UInt32, rtxSSRC: UInt32?, cname: String
    ) {
        self.mid = mid
        self.codecs = codecs
        self.extensions = extensions
        self.direction = direction
        self.stream = stream
        self.isSlides = isSlides
        self.ssrc = ssrc
        self.rtxSSRC = rtxSSRC
        self.cname = cname
    }

    /// The video of a shared screen: VP8 with retransmission, sent only.
    public static func contentVideo(
        mid: String = "0", stream: MediaStreamAttribute, ssrc: UInt32, rtxSSRC: UInt32, cname: String
    ) -> OfferedSection {
        OfferedSection(
            mid: mid, codecs: [.vp8], extensions: videoExtensions, direction: .sendOnly, stream: stream,
            isSlides: true, ssrc: ssrc, rtxSSRC: rtxSSRC, cname: cname)
    }

    /// The header extensions that video is offered with, under their ids.
    public static let videoExtensions: [ExtensionMapAttribute] = [
        ExtensionMapAttribute(id: 1, uri: HeaderExtensionURI.mid.rawValue),
        ExtensionMapAttribute(id: 2, uri: HeaderExtensionURI.absoluteSendTime.rawValue),
        ExtensionMapAttribute(id: 3, uri: HeaderExtensionURI.transportWideSequenceNumber.rawValue),
        ExtensionMapAttribute(id: 4, uri: HeaderExtensionURI.videoOrientation.rawValue),
        ExtensionMapAttribute(id: 5, uri: HeaderExtensionURI.playoutDelay.rawValue),
        ExtensionMapAttribute(id: 6, uri: HeaderExtensionURI.videoContentType.rawValue),
    ]
}

/// What an offer is made of.
public struct OfferParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63 (RFC 9429 §5.2.1).
    public var sessionID: UInt64
    /// Grows by one with each new offer of a session.
    public var sessionVersion: UInt64
    /// The one transport of all sections.
    public var transport: TransportParameters
    /// The sections in order.
    public var sections: [OfferedSection]

    /// An offer of sections over one transport.
    public init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters, sections: [OfferedSection]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.sections = sections
    }
}

/// What an answer is made of.
public struct AnswerParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63.
    public var sessionID: UInt64
    /// Grows by one with each new answer of a session.
    public var sessionVersion: UInt64
    /// The one transport of all sections.
    public var transport: TransportParameters
    /// The codecs that can be received; their payload types are the offer's in the answer.
    public var codecs: [NegotiableCodec]
    /// The header extensions that are understood.
    public var extensions: Set<HeaderExtensionURI>

    /// An answer that receives VP8.
    public init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters,
        codecs: [NegotiableCodec] = [.vp8],
        extensions: Set<HeaderExtensionURI> = [
            .mid, .transportWideSequenceNumber, .absoluteSendTime, .videoOrientation, .playoutDelay, .videoContentType,
        ]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.codecs = codecs
        self.extensions = extensions
    }
}
