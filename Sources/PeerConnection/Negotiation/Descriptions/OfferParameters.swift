package import RTCShareSDP

/// The transport of this side, in an offer or an answer.
package struct TransportParameters: Hashable, Sendable {
    /// The ICE credentials.
    package var ice: ICEAttributes
    /// The words of `a=ice-options`. `ice2` means RFC 8445, `trickle` that later candidates are accepted.
    package var iceOptions: [String]
    /// The certificate's fingerprints.
    package var fingerprints: [FingerprintAttribute]
    /// The candidates known so far.
    package var candidates: [CandidateAttribute]
    /// Whether the candidates are complete.
    package var hasAllCandidates: Bool

    package init(
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

/// The parameters of an offer.
package struct OfferParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63 (RFC 9429 §5.2.1).
    package var sessionID: UInt64
    /// A version that increases by one with each new offer of a session.
    package var sessionVersion: UInt64
    /// The transport of all sections.
    package var transport: TransportParameters
    /// The sections in order.
    package var sections: [OfferedSection]

    package init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters, sections: [OfferedSection]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.sections = sections
    }
}

/// The parameters of an answer.
package struct AnswerParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63.
    package var sessionID: UInt64
    /// A version that increases by one with each new answer of a session.
    package var sessionVersion: UInt64
    /// The transport of all sections.
    package var transport: TransportParameters
    /// The codecs that can be received. The answer uses the offer's payload types for them.
    package var codecs: [NegotiableCodec]
    /// The supported header extensions.
    package var extensions: Set<HeaderExtensionURI>
    /// The maximum number of accepted sections; the others are rejected.
    package var maximumSections = PeerConnection.maximumMedia
    /// The media of this side, by the index of their section.
    package var sending: [Int: OfferedSection] = [:]
    /// The sections in which this side receives no media for now.
    package var declined: Set<Int> = []
    /// The session negotiated before; nil for a session's first answer.
    package var agreed: NegotiatedSession?

    /// Creates parameters of an answer that receives all codecs.
    package init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters,
        codecs: [NegotiableCodec] = NegotiableCodec.video() + [.opusReceived],
        extensions: Set<HeaderExtensionURI> = [
            .mid, .transportWideSequenceNumber, .absoluteSendTime, .videoOrientation, .playoutDelay, .videoContentType,
            .audioLevel, .dependencyDescriptor,
        ]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.codecs = codecs
        self.extensions = extensions
    }
}
