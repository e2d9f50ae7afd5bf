package import RTCShareSDP
package import RTCShareWireFormat

/// An error in the negotiation: the line, the rule with its source, and the remedy.
package struct NegotiationError: Error, Hashable, Sendable {
    /// The description that contains the error.
    package enum Side: String, Hashable, Sendable {
        /// The offer.
        case offer
        /// The answer.
        case answer
    }

    /// The broken rule.
    package enum Rule: Hashable, Sendable {
        /// An attribute does not follow its grammar.
        case malformed(SDPError)
        /// The answer is the offer itself.
        case ownOffer
        /// The answer has `a=setup:actpass`, which only offers can have.
        case offerInsteadOfAnswer
        /// There is no `m=` line.
        case noMedia
        /// The answer does not have as many `m=` lines as the offer.
        case sectionCount(offered: Int, answered: Int)
        /// An `m=` line has another media type than the offer's at its place.
        case sectionKind(offered: String, answered: String)
        /// An `m=` line's protocol is not RTP over DTLS with feedback.
        case mediaProtocol(String)
        /// None of the section's codecs was offered.
        case noCommonCodec(offered: [String], answered: [String])
        /// The answer rejects every section.
        case allRejected
        /// The offer sends no media that can be received.
        case nothingToReceive(codecs: [String])
        /// `ice-ufrag` or `ice-pwd` is missing.
        case iceCredentialsMissing
        /// There is no fingerprint.
        case fingerprintMissing
        /// There are only fingerprints with insecure hash functions.
        case fingerprintWeak([String])
        /// There is no `a=setup`.
        case setupMissing
        /// `a=setup:holdconn` starts no connection.
        case setupHeld
        /// `a=rtcp-mux` is missing.
        case rtcpMuxMissing
        /// The answer's direction does not fit the offer's.
        case direction(offered: DirectionAttribute, answered: DirectionAttribute)
        /// A section's `a=mid` differs from the offer's at its place.
        case mid(offered: String, answered: String)
        /// The bundle names a section that the offered bundle does not contain.
        case bundleStranger(String)
        /// The bundle's first section is rejected, but others are not.
        case bundleRejected(String)
        /// A section is accepted outside the bundle, so that it has no transport.
        case outsideBundle(String)
        /// A payload type is one that RTCP packets use on a shared port.
        case payloadTypeOfRTCP(UInt8)
        /// A payload type has two formats in one bundle.
        case payloadTypeConflict(UInt8)
        /// A header extension's id has two extensions in one bundle, or is not valid in packets.
        case extensionID(UInt16)
        /// A later description has fewer `m=` lines than the negotiated one.
        case sectionsMissing(agreed: Int, described: Int)
        /// A later description has another media type or another `a=mid` in place of a negotiated section.
        case sectionMoved(agreed: String, described: String)
        /// The answer accepts a section that has port 0 in the offer.
        case sectionEnded
        /// A text for the offer has characters that are not allowed.
        case notAToken(String)
    }

    /// The description that contains the error.
    package let side: Side
    /// The line number, counted from 1; 0 if the description was not parsed from text.
    package let line: Int
    /// The line's text.
    package let text: String
    /// The broken rule.
    package let rule: Rule

    init(_ side: Side, _ line: SDPLine?, _ rule: Rule) {
        let place = line.map { SDPError($0, rule: .notALine) }
        self.side = side
        self.line = place?.line ?? 0
        self.text = place?.text ?? ""
        self.rule = rule
    }

    init(_ side: Side, _ error: SDPError) {
        self.side = side
        line = error.line
        text = error.text
        rule = .malformed(error)
    }
}

extension NegotiationError.Rule {
    /// The maximum number of a peer's codecs in a message.
    private static let maximumNames = 8

    /// Creates the error for an answer without an offered codec. A codec that was offered with other parameters is
    /// named with its own.
    static func noCommonCodec(offered: [RTPMapAttribute], answered: [NegotiatedCodec]) -> Self {
        let known = Set(offered.map { $0.encodingName.lowercased() })
        var names: [String] = []
        for codec in answered where names.count < maximumNames {
            var name = codec.map.encodingName
            if known.contains(name.lowercased()) {
                name += "/\(codec.map.clockRate)" + (codec.parameters.map { " \($0.text)" } ?? "")
            }
            if !names.contains(name) { names.append(name) }
        }
        return .noCommonCodec(offered: offered.map(\.encodingName), answered: names)
    }
}

extension NegotiationError {
    /// The section of the document that contains the rule.
    package var section: String {
        switch rule {
        case .malformed(let error): error.section
        case .ownOffer, .sectionCount, .allRejected, .noMedia: "RFC 3264 §6"
        case .sectionsMissing, .sectionMoved: "RFC 3264 §8"
        case .sectionEnded: "RFC 3264 §8.2"
        case .sectionKind, .noCommonCodec, .direction, .nothingToReceive: "RFC 3264 §6.1"
        case .offerInsteadOfAnswer, .setupMissing, .setupHeld: "RFC 8842 §5"
        case .mediaProtocol: "RFC 9429 §5.1.2"
        case .iceCredentialsMissing: "RFC 8839 §5.4"
        case .fingerprintMissing, .fingerprintWeak: "RFC 8122 §5"
        case .rtcpMuxMissing: "RFC 8858 §4"
        case .mid: "RFC 5888 §4"
        case .bundleStranger, .bundleRejected, .outsideBundle: "RFC 9143 §7.3"
        case .payloadTypeOfRTCP: "RFC 5761 §4"
        case .payloadTypeConflict: "RFC 9143 §10.1.2"
        case .extensionID: "RFC 8285 §5"
        case .notAToken: "RFC 8830 §2"
        }
    }

    /// The error, in one sentence without a period.
    package var reason: String {
        switch rule {
        case .malformed(let error): error.reason
        case .ownOffer: "this is the offer itself, not an answer to it"
        case .offerInsteadOfAnswer: "this is an offer: an answer must say \"a=setup:active\" or \"a=setup:passive\""
        case .noMedia: "it has no m= line"
        case .sectionCount(let offered, let answered):
            "it has \(answered) m= lines, and the offer has \(offered)"
        case .sectionKind(let offered, let answered):
            "this section is \(answered), and the offer's is \(offered)"
        case .mediaProtocol(let name): "the protocol is \(name), but UDP/TLS/RTP/SAVPF is needed"
        case .noCommonCodec(let offered, let answered):
            "none of this section's codecs (\(answered.joined(separator: ", "))) was offered "
                + "(\(offered.joined(separator: ", ")))"
        case .allRejected: "it rejects everything that was offered: every m= line has port 0"
        case .nothingToReceive(let codecs):
            "no section sends a codec that can be received here (\(codecs.joined(separator: ", ")))"
        case .iceCredentialsMissing: "a=ice-ufrag or a=ice-pwd is missing, in this section and in the session"
        case .fingerprintMissing: "a=fingerprint is missing, in this section and in the session"
        case .fingerprintWeak(let names):
            "the only fingerprints are by \(names.joined(separator: ", ")), but sha-256 or stronger is needed"
        case .setupMissing: "a=setup is missing, in this section and in the session"
        case .setupHeld: "a=setup:holdconn does not open a connection"
        case .rtcpMuxMissing: "a=rtcp-mux is missing, but RTP and RTCP must share a port"
        case .direction(let offered, let answered):
            "the direction \(answered.rawValue) does not answer \(offered.rawValue)"
        case .mid(let offered, let answered): "this section is \(answered), and the offer's is \(offered)"
        case .bundleStranger(let mid): "the BUNDLE group names \(mid), which the offer's group does not"
        case .bundleRejected(let mid): "the BUNDLE group begins with \(mid), whose m= line is rejected"
        case .outsideBundle(let mid): "section \(mid) is accepted, but is not in the BUNDLE group"
        case .payloadTypeOfRTCP(let payloadType):
            "payload type \(payloadType) can't be distinguished from RTCP on the same port"
        case .payloadTypeConflict(let payloadType):
            "payload type \(payloadType) has two meanings in one bundle"
        case .extensionID(let id):
            "header extension id \(id) has two meanings in one bundle, or is not within 1 to 255"
        case .sectionsMissing(let agreed, let described):
            "it has \(described) m= lines, and the session has \(agreed), none of which may be removed"
        case .sectionMoved(let agreed, let described):
            "this section is \(described), and the session's is \(agreed)"
        case .sectionEnded: "it accepts a section that the offer has ended with port 0"
        case .notAToken(let text): "\"\(text)\" has characters that an id can't have"
        }
    }

    /// The remedy, in one sentence without a period.
    package var advice: String {
        switch rule {
        case .malformed(let error): error.advice
        case .ownOffer, .offerInsteadOfAnswer:
            "give the offer to the viewer, and use the answer that it returns"
        case .noMedia, .sectionCount, .sectionKind, .mid:
            "check that this is the whole answer to this offer"
        case .sectionsMissing, .sectionMoved:
            "use the newest description of this session, in which ended sections keep their place and have port 0"
        case .sectionEnded: "answer with port 0 where the offer has it"
        case .mediaProtocol, .iceCredentialsMissing, .fingerprintMissing, .setupMissing, .setupHeld:
            "check that the description comes from a WebRTC peer and is complete"
        case .noCommonCodec: "use a viewer that has one of the offered codecs"
        case .allRejected: "use a viewer that has the offered codecs and that receives"
        case .nothingToReceive: "get an offer that sends one of these codecs"
        case .fingerprintWeak: "use a sha-256 fingerprint on the peer"
        case .rtcpMuxMissing: "turn on RTCP multiplexing on the peer"
        case .direction: "answer recvonly to sendonly"
        case .bundleStranger, .bundleRejected, .outsideBundle:
            "bundle exactly the sections that the answer accepts"
        case .payloadTypeOfRTCP: "use payload types from 96 to 127, or from 35 to 63"
        case .payloadTypeConflict, .extensionID: "give each number one meaning"
        case .notAToken: "use letters, digits and the signs !#$%&'*+-.^_`{|}~ only"
        }
    }
}

extension NegotiationError: CustomStringConvertible {
    /// The location, the rule and the remedy in the form `answer, line 7, "m=video …": … (RFC …); do …`.
    package var description: String { "\(place)\(reason) (\(section)); \(advice)" }

    private var place: String { line > 0 ? "\(side.rawValue), line \(line), \"\(text)\": " : "\(side.rawValue): " }
}

extension NegotiationError: ExplainedError {
    /// The same explanation without the section of the document.
    package var explanation: Explanation { Explanation(place + reason, remedy: advice) }
}
