package import RTCShareSDP
internal import RTCShareWireFormat

/// The negotiation by offer and answer (RFC 3264, RFC 9429) over one bundled transport.
package enum Negotiation {
    /// Makes an offer.
    ///
    /// Every section repeats the transport's credentials and fingerprint, for peers that look for them there. The
    /// candidates are in the first section that has not ended, whose port and `c=` line contain the default candidate.
    /// - Throws: An error if a text has characters that its attribute does not allow.
    package static func makeOffer(_ parameters: OfferParameters) throws(NegotiationError) -> SessionDescription {
        let origin = Origin(sessionID: parameters.sessionID, sessionVersion: parameters.sessionVersion)
        var offer = SessionDescription(origin: origin)
        let live = parameters.sections.filter { $0.ended == nil }
        let bundle = GroupAttribute(semantics: "BUNDLE", mids: live.map(\.mid))
        offer.append(attribute: "group", bundle.description)
        offer.append(options: parameters.transport)
        let tagged = parameters.sections.firstIndex { $0.ended == nil }
        for (index, section) in parameters.sections.enumerated() {
            offer.media.append(try makeSection(section, parameters.transport, isTagged: index == tagged))
        }
        return offer
    }

    private static func makeSection(
        _ section: OfferedSection, _ transport: TransportParameters, isTagged: Bool
    ) throws(NegotiationError) -> MediaDescription {
        let stream = section.source?.stream
        for text in [section.mid, stream?.streamID ?? "-", stream?.trackID ?? "-", section.source?.cname ?? "-"] {
            guard isToken(text) else { throw NegotiationError(.offer, nil, .notAToken(text)) }
        }
        if let line = section.ended { return MediaDescription(ended: line, mid: section.mid) }
        let correction = section.forwardErrorCorrection
        let formats =
            section.codecs.flatMap { [$0.map.payloadType, $0.rtxPayloadType].compactMap { $0 } }
            + (correction?.payloadTypes ?? [])
        var media = MediaDescription(
            kind: section.codecs.first?.kind ?? "video", transport: isTagged ? transport : nil,
            formats: formats.map(String.init))
        media.append(attribute: "mid", section.mid)
        media.append(attribute: section.direction.rawValue)
        if section.isSlides { media.append(attribute: "content", "slides") }
        if let stream { media.append(attribute: "msid", stream.description) }
        media.append(attribute: "rtcp-mux")
        media.append(attribute: "rtcp-mux-only")
        media.append(attribute: "rtcp-rsize")
        media.append(transport, setup: .actpass, withCandidates: isTagged)
        for map in section.extensions { media.append(attribute: "extmap", map.description) }
        for codec in section.codecs {
            media.append(codec, as: codec.map, feedback: codec.feedback, rtx: codec.rtxPayloadType)
        }
        if let correction, let codec = section.codecs.first {
            media.append(correction, clockRate: codec.map.clockRate)
        }
        if let source = section.source {
            media.append(source, hasRetransmission: section.codecs.contains { $0.rtxPayloadType != nil })
        }
        return media
    }

    /// Whether the text is a token (RFC 8866 §9).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
                default: false
                }
            }
    }
}

extension SessionDescription {
    mutating func append(options transport: TransportParameters) {
        guard !transport.iceOptions.isEmpty else { return }
        append(attribute: "ice-options", transport.iceOptions.joined(separator: " "))
    }
}

extension MediaDescription {
    /// Creates a section of RTP over DTLS at the transport's default candidate, or at port 9 if there is none.
    init(
        kind: String, transport: TransportParameters?, protocol: String = "UDP/TLS/RTP/SAVPF", formats: [String]
    ) {
        let address = transport?.defaultAddress
        self.init(kind: kind, port: address?.port ?? 9, protocol: `protocol`, formats: formats)
        lines.append(SDPLine("c", ConnectionData(address?.ip ?? .v4(0)).description))
    }

    /// Creates a section that is rejected or has ended, with port 0. Its formats have no meaning (RFC 3264 §6, §8.2).
    init(ended line: MediaLine, mid: String?) {
        self.init(kind: line.kind, port: 0, protocol: line.protocol, formats: line.formats)
        lines.append(SDPLine("c", "IN IP4 0.0.0.0"))
        if let mid { append(attribute: "mid", mid) }
        append(attribute: DirectionAttribute.inactive.rawValue)
    }

    mutating func append(_ transport: TransportParameters, setup: SetupAttribute, withCandidates: Bool) {
        append(attribute: "ice-ufrag", transport.ice.usernameFragment)
        append(attribute: "ice-pwd", transport.ice.password)
        for fingerprint in transport.fingerprints {
            append(attribute: "fingerprint", fingerprint.description)
        }
        append(attribute: "setup", setup.rawValue)
        guard withCandidates else { return }
        for candidate in transport.candidates {
            append(attribute: "candidate", candidate.value)
        }
        if transport.hasAllCandidates { append(attribute: "end-of-candidates") }
    }

    mutating func append(_ codec: NegotiableCodec, as map: RTPMapAttribute, feedback: [FeedbackKind], rtx: UInt8?) {
        append(attribute: "rtpmap", map.description)
        if let parameters = codec.formatParameters { append(attribute: "fmtp", "\(map.payloadType) \(parameters)") }
        for kind in feedback { append(attribute: "rtcp-fb", "\(map.payloadType) \(kind)") }
        guard let rtx else { return }
        append(attribute: "rtpmap", "\(rtx) rtx/\(map.clockRate)")
        append(attribute: "fmtp", "\(rtx) apt=\(map.payloadType)")
    }

    mutating func append(_ correction: ForwardErrorCorrectionFormats, clockRate: UInt32) {
        for map in correction.maps(clockRate: clockRate) {
            append(attribute: "rtpmap", map.description)
            if map.payloadType == correction.redRetransmission {
                append(attribute: "fmtp", "\(map.payloadType) apt=\(correction.red)")
            }
        }
    }

    /// Appends the sources, or the layers of a simulcast. RFC 9429 does not require sources, but conference servers
    /// identify single streams by them.
    mutating func append(_ source: OfferedSection.Source, hasRetransmission: Bool) {
        guard source.layers.isEmpty else {
            for id in source.layers {
                append(attribute: "rid", RTPStreamAttribute(id: id, direction: .send).description)
            }
            let layers = SimulcastAttribute(sent: source.layers.map { [SimulcastAttribute.Stream($0)] })
            return append(attribute: "simulcast", layers.description)
        }
        let rtxSSRC = hasRetransmission ? source.rtxSSRC : nil
        if let rtxSSRC {
            let group = SourceGroupAttribute(semantics: "FID", ssrcs: [source.ssrc, rtxSSRC])
            append(attribute: "ssrc-group", group.description)
        }
        for ssrc in [source.ssrc, rtxSSRC].compactMap({ $0 }) {
            append(attribute: "ssrc", SourceAttribute(ssrc: ssrc, name: "cname", value: source.cname).description)
            append(
                attribute: "ssrc",
                SourceAttribute(ssrc: ssrc, name: "msid", value: source.stream.description).description)
        }
    }
}

extension TransportParameters {
    /// The default candidate for peers without ICE: the one most likely to be reachable (RFC 8445 §5.1.4), IPv4 before
    /// IPv6.
    var defaultAddress: TransportAddress? {
        var best: (rank: Int, address: TransportAddress)?
        for candidate in candidates where candidate.component == 1 && candidate.isUDP {
            guard case .address(let ip) = candidate.host else { continue }
            let reach =
                switch candidate.kind {
                case .relayed: 4
                case .serverReflexive: 2
                default: 0
                }
            let rank = reach + (ip.isV4 ? 1 : 0)
            if rank > best?.rank ?? -1 { best = (rank, TransportAddress(ip: ip, port: candidate.port)) }
        }
        return best?.address
    }
}
