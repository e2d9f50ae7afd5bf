public import RTCShareSDP

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
    /// The most sections that are taken; the others are rejected.
    public var maximumSections = PeerConnection.maximumMedia
    /// What this end sends in sections that it offered before, by their index; nothing in a session's first answer.
    public var sending: [Int: OfferedSection] = [:]
    /// What was agreed before; nil for a session's first answer.
    public var agreed: NegotiatedSession?

    /// An answer that receives VP8 and Opus.
    public init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters,
        codecs: [NegotiableCodec] = [.vp8, .opusReceived],
        extensions: Set<HeaderExtensionURI> = [
            .mid, .transportWideSequenceNumber, .absoluteSendTime, .videoOrientation, .playoutDelay, .videoContentType,
            .audioLevel,
        ]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.codecs = codecs
        self.extensions = extensions
    }
}
