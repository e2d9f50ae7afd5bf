internal import RTCShareWireFormat

/// An explainer of consecutive lines that tracks the section of each line.
struct ExplanationContext {
    /// The codecs of the payload types of each section; the session is first.
    private let codecs: [[String: String]]
    private var section = 0

    init(_ lines: [SDPLine?]) {
        var codecs: [[String: String]] = [[:]]
        for case let line? in lines {
            if line.type == UInt8(ascii: "m") {
                codecs.append([:])
            } else if line.hasAttributeName("rtpmap"), let map = line.attributeValue.flatMap(RTPMapAttribute.init) {
                codecs[codecs.count - 1][String(map.payloadType)] = map.encodingName
            }
        }
        self.codecs = codecs
    }

    /// Returns the meaning of a line and the error in it.
    mutating func explain(_ line: SDPLine) -> (String, SDPError?) {
        switch Unicode.Scalar(line.type) {
        case "a": return explainAttribute(line)
        case "m":
            section += 1
            return ((try? MediaDescription(parsing: line)).map(explain) ?? "a media section", nil)
        case "o":
            let origin = Origin(line.value)
            return (origin.map { "session \($0.sessionID), version \($0.sessionVersion) of it" } ?? "origin", nil)
        case "c":
            guard let connection = ConnectionData(line.value) else { return ("connection data", nil) }
            let isBlank = connection.address == "0.0.0.0" || connection.address == "::"
            return (isBlank ? "no default address: ICE finds one" : "default address \(connection.address)", nil)
        case "t":
            let timing = Timing(line.value)
            return (timing?.start == 0 && timing?.stop == 0 ? "no time limit" : "when the session runs", nil)
        case "b":
            guard let bandwidth = Bandwidth(line) else { return ("bandwidth", nil) }
            guard let rate = bandwidth.rate else { return ("bandwidth of type \(bandwidth.type)", nil) }
            return ("at most \(rate.bitsPerSecond / 1000) kbit/s", nil)
        case let type: return (ExplanationContext.lineTypes[type] ?? "", nil)
        }
    }

    private static let lineTypes: [Unicode.Scalar: String] = [
        "v": "session description, protocol version 0", "s": "the session's name, - for none",
        "i": "a description for people",
        "u": "a page with more about the session", "e": "an e-mail address", "p": "a telephone number",
        "r": "when the session repeats", "z": "time zone changes", "k": "an encryption key (obsolete)",
    ]

    private func explain(_ media: MediaDescription) -> String {
        guard media.port != 0 else {
            return "\(media.kind) section \(section - 1): port 0, rejected, or left to its bundle"
        }
        let names = media.formats.map { format in name(of: format).map { "\($0) (\(format))" } ?? format }
        let port = media.port == 9 ? "no default port" : "default port \(media.port)"
        return "\(media.kind) section \(section - 1), \(port), \(media.protocol): \(names.joined(separator: ", "))"
    }

    private func name(of format: some StringProtocol) -> String? {
        codecs.indices.contains(section) ? codecs[section][String(format)] : nil
    }

    private func named(_ payloadType: UInt8) -> String {
        name(of: String(payloadType)).map { "\($0) (\(payloadType))" } ?? "payload type \(payloadType)"
    }

    private func explainAttribute(_ line: SDPLine) -> (String, SDPError?) {
        let name = String(line.attributeName ?? "")
        if let flag = ExplanationContext.flags[name] { return (flag, nil) }
        guard let grammar = AttributeGrammar(rawValue: name) else {
            return (ExplanationContext.others[name] ?? "", nil)
        }
        guard let value = line.attributeValue, let meaning = explain(grammar, value) else {
            return ("", grammar.malformed(line))
        }
        return (meaning, nil)
    }

    private func explain(_ grammar: AttributeGrammar, _ value: Substring) -> String? {
        switch grammar {
        case .group:
            return GroupAttribute(value).map { group in
                let mids = group.mids.joined(separator: ", ")
                return group.semantics == "BUNDLE"
                    ? "sections \(mids) share one transport" : "group \(group.semantics) of sections \(mids)"
            }
        case .mid: return value.isToken ? "this section's name is \(value)" : nil
        case .msid:
            return MediaStreamAttribute(value).map { stream in
                stream.streamID == "-"
                    ? "belongs to no media stream"
                    : "belongs to media stream \(stream.streamID)" + (stream.trackID.map { ", track \($0)" } ?? "")
            }
        case .setup:
            return switch SetupAttribute(rawValue: value.lowercased()) {
            case .active: "opens the DTLS connection (client)"
            case .passive: "waits for the DTLS connection (server)"
            case .actpass: "either end may open the DTLS connection; the answer decides (so this is an offer)"
            case .holdconn: "no DTLS connection for now"
            case nil: nil
            }
        case .fingerprint:
            return FingerprintAttribute(value).map { fingerprint in
                "the certificate's \(fingerprint.hashFunction) hash"
                    + (fingerprint.isStrong ? "" : ", too weak to trust")
            }
        case .candidate: return CandidateAttribute(value).map(explain)
        case .rtpmap:
            return RTPMapAttribute(value).flatMap { map in
                guard map.clockRate > 0 else { return nil }
                let channels = map.parameters.map { ", \($0) channels" } ?? ""
                return "payload type \(map.payloadType) is \(map.encodingName), clock \(map.clockRate) Hz\(channels)"
            }
        case .fmtp: return FormatParametersAttribute(value).map(explain)
        case .extmap:
            return ExtensionMapAttribute(value).map { map in
                let known = HeaderExtensionURI(rawValue: map.uri).map(ExplanationContext.name)
                let way = map.direction.map { ", \($0.rawValue)" } ?? ""
                return "header extension \(map.id)\(way): \(known ?? map.uri)"
            }
        case .ssrc:
            return SourceAttribute(value).map { source in
                "source \(source.ssrc): \(source.name)" + (source.value.map { " is \($0)" } ?? "")
            }
        case .sourceGroup:
            return SourceGroupAttribute(value).map { group in
                group.semantics == "FID" && group.ssrcs.count == 2
                    ? "source \(group.ssrcs[1]) retransmits source \(group.ssrcs[0])"
                    : "group \(group.semantics) of sources \(group.ssrcs.map(String.init).joined(separator: ", "))"
            }
        case .rid:
            return RTPStreamAttribute(value).map { stream in
                let rest = stream.description.split(separator: " ").dropFirst(2).joined(separator: " ")
                return "\(stream.direction == .send ? "sends" : "receives") stream \(stream.id)"
                    + (rest.isEmpty ? "" : ", within \(rest)")
            }
        case .simulcast: return SimulcastAttribute(value).map(explain)
        case .rtcp:
            return RTCPAttribute(value).map { rtcp in
                rtcp.port == 9 ? "no RTCP port of its own" : "RTCP port \(rtcp.port), unless multiplexed"
            }
        case .content:
            guard value.parts(at: ",").allSatisfy(\.isToken) else {
                return nil
            }
            return "the section shows: \(value)" + (value == "slides" ? " (a shared screen or presentation)" : "")
        case .feedback:
            return FeedbackAttribute(value).map { feedback in
                let target = feedback.payloadType.map(named) ?? "every payload type"
                return "\(target): \(ExplanationContext.name(feedback.kind))"
            }
        case .usernameFragment:
            return value.isUsernameFragment ? "ICE user name \(value)" : nil
        case .password:
            return value.isICEPassword ? "ICE password, \(value.utf8.count) characters, not shown" : nil
        case .iceOptions: return "ICE abilities: " + value.fields.joined(separator: ", ")
        }
    }

    private func explain(_ candidate: CandidateAttribute) -> String {
        let kind =
            switch candidate.kind {
            case .host: "host"
            case .serverReflexive: "server-reflexive"
            case .peerReflexive: "peer-reflexive"
            case .relayed: "relayed"
            case .other(let word): word
            }
        var text = "\(kind) \(candidate.transport.uppercased()) candidate \(candidate.host) port \(candidate.port)"
        text += ", priority \(candidate.priority)"
        if let host = candidate.relatedHost { text += ", stands for \(host) port \(candidate.relatedPort ?? 0)" }
        if let type = candidate.tcpType { text += ", TCP \(type)" }
        if candidate.component != 1 { text += ", component \(candidate.component)" }
        if case .name(let name) = candidate.host {
            text += name.hasSuffix(".local") ? " (a name known only on its local network)" : " (a name to look up)"
        }
        return text
    }

    private func explain(_ simulcast: SimulcastAttribute) -> String {
        [("sends", simulcast.sent), ("receives", simulcast.received)].filter { !$0.1.isEmpty }.map { verb, streams in
            let names = streams.map { alternatives in
                alternatives.map { $0.id + ($0.isPaused ? " (paused)" : "") }.joined(separator: " or ")
            }
            return "\(verb) the same source as streams \(names.joined(separator: ", "))"
        }.joined(separator: "; ")
    }

    private func explain(_ parameters: FormatParametersAttribute) -> String {
        let codec = name(of: parameters.format).map { "\($0) (\(parameters.format))" } ?? "format \(parameters.format)"
        guard let apt = parameters["apt"] else { return "\(codec): \(parameters.text)" }
        return "\(codec) retransmits " + (name(of: apt).map { "\($0) (\(apt))" } ?? "payload type \(apt)")
    }

    private static func name(_ kind: FeedbackKind) -> String {
        switch kind {
        case .nack: "lost packets are reported"
        case .pictureLoss: "a lost frame is reported"
        case .fullIntraRequest: "a key frame can be requested"
        case .temporaryMaximumBitrate: "a maximum bitrate can be requested"
        case .receiverEstimatedBitrate: "the receiver reports its estimate of the rate"
        case .transportWide: "the arrival of every packet is reported"
        default: "feedback \(kind)"
        }
    }

    private static func name(_ uri: HeaderExtensionURI) -> String {
        switch uri {
        case .mid: "the section's name"
        case .transportWideSequenceNumber: "transport-wide sequence number"
        case .absoluteSendTime: "time of sending"
        case .videoOrientation: "video orientation"
        case .playoutDelay: "playout delay"
        case .videoContentType: "whether the video is of a screen"
        case .audioLevel: "loudness"
        case .dependencyDescriptor: "dependencies between frames"
        case .streamIdentification: "the simulcast layer"
        case .repairedStreamIdentification: "the simulcast layer of a retransmission"
        }
    }

    private static let flags = [
        "sendrecv": "sends and receives", "sendonly": "sends only", "recvonly": "receives only",
        "inactive": "neither sends nor receives", "rtcp-mux": "RTP and RTCP share a port",
        "rtcp-mux-only": "RTP and RTCP must share a port", "rtcp-rsize": "short RTCP packets are understood",
        "ice-lite": "only answers ICE checks", "end-of-candidates": "no more candidates will come",
        "bundle-only": "only to be used within the bundle", "extmap-allow-mixed": "both kinds of header extensions mix",
    ]

    private static let others = [
        "msid-semantic": "how media streams are named (obsolete)",
        "max-message-size": "largest data channel message, in bytes",
        "sctp-port": "the data channels' SCTP port", "sctpmap": "the data channels' SCTP port (obsolete)",
        "ptime": "milliseconds of audio in a packet", "maxptime": "maximum milliseconds of audio in a packet",
        "framerate": "frames per second", "imageattr": "video sizes", "crypto": "SDES keys, which WebRTC refuses",
        "identity": "an identity assertion", "tls-id": "names the DTLS association",
    ]
}
