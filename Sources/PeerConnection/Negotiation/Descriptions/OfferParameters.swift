package import RTCShareSDP

/// What identifies this end of a transport, in an offer and in an answer alike.
package struct TransportParameters: Hashable, Sendable {
    /// The ICE credentials.
    package var ice: ICEAttributes
    /// The words of `a=ice-options`; `ice2` says RFC 8445. `trickle` would promise to take candidates later.
    package var iceOptions: [String]
    /// The certificate's fingerprints.
    package var fingerprints: [FingerprintAttribute]
    /// The candidates that are known.
    package var candidates: [CandidateAttribute]
    /// Whether no more will come.
    package var hasAllCandidates: Bool

    /// A transport, by default with all its candidates.
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

/// What an offer is made of.
package struct OfferParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63 (RFC 9429 §5.2.1).
    package var sessionID: UInt64
    /// Grows by one with each new offer of a session.
    package var sessionVersion: UInt64
    /// The one transport of all sections.
    package var transport: TransportParameters
    /// The sections in order.
    package var sections: [OfferedSection]

    /// An offer of sections over one transport.
    package init(
        sessionID: UInt64, sessionVersion: UInt64 = 1, transport: TransportParameters, sections: [OfferedSection]
    ) {
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.transport = transport
        self.sections = sections
    }
}

/// What an answer is made of.
package struct AnswerParameters: Hashable, Sendable {
    /// The origin's session id: random, below 2^63.
    package var sessionID: UInt64
    /// Grows by one with each new answer of a session.
    package var sessionVersion: UInt64
    /// The one transport of all sections.
    package var transport: TransportParameters
    /// The codecs that can be received; their payload types are the offer's in the answer.
    package var codecs: [NegotiableCodec]
    /// The header extensions that are understood.
    package var extensions: Set<HeaderExtensionURI>
    /// The most sections that are taken; the others are rejected.
    package var maximumSections = PeerConnection.maximumMedia
    /// What this end sends, by the index of its section.
    package var sending: [Int: OfferedSection] = [:]
    /// The sections in which this end receives nothing for now.
    package var declined: Set<Int> = []
    /// What was agreed before; nil for a session's first answer.
    package var agreed: NegotiatedSession?

    /// An answer that receives VP8 and Opus.
    package init(
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
