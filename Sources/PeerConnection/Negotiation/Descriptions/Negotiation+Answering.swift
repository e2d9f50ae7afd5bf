internal import RTCShareRTP
package import RTCShareSDP

extension Negotiation {
    /// Answers a peer's offer. It accepts the sections with media that can be received, or that have this side's media,
    /// and rejects the others. An inactive section is accepted too, so that it can start later.
    ///
    /// More than one section is accepted only if the offer bundles them, since there is one transport. This side starts
    /// DTLS (`a=setup:active`), unless the offer requires the opposite.
    package static func makeAnswer(
        to offer: SessionDescription, _ parameters: AnswerParameters
    ) throws(NegotiationError) -> (answer: SessionDescription, session: NegotiatedSession) {
        guard !offer.media.isEmpty else { throw NegotiationError(.offer, offer.lines.last, .noMedia) }
        if let agreed = parameters.agreed { try checkContinuity(of: offer, .offer, with: agreed.sections) }
        var answering = Answering(
            theirs: DescriptionReader(side: .offer, session: offer), parameters: parameters)
        return try answering.run()
    }
}

/// The state of making an answer.
private struct Answering {
    let theirs: DescriptionReader
    let parameters: AnswerParameters
    private var numbers = BundledNumbers()

    init(theirs: DescriptionReader, parameters: AnswerParameters) {
        self.theirs = theirs
        self.parameters = parameters
    }

    private var offer: SessionDescription { theirs.session }

    /// A section to accept.
    private struct Choice {
        let index: Int
        let mid: String?
        /// The codecs of both sides, at least one, with the offer's payload types.
        let codecs: [(own: NegotiableCodec, theirs: NegotiatedCodec)]
        /// The direction of this side.
        let direction: DirectionAttribute
    }

    mutating func run() throws(NegotiationError) -> (SessionDescription, NegotiatedSession) {
        let choices = try choose()
        if choices.isEmpty, let agreed = parameters.agreed { return try end(agreed) }
        let isWorthIt = choices.contains { $0.direction != .inactive } || parameters.agreed != nil
        guard let first = choices.first, isWorthIt else {
            throw NegotiationError(
                .offer, offer.media.first?.line, .nothingToReceive(codecs: parameters.codecs.map(\.map.encodingName)))
        }
        let transport = try transportSection(for: first)
        let setup = try localSetup(of: transport)

        var answer = try emptyAnswer(bundling: choices.compactMap(\.mid))
        var sections: [NegotiatedSection] = []
        for (index, media) in offer.media.enumerated() {
            let mid = try theirs.mid(media)
            if let choice = choices.first(where: { $0.index == index }) {
                let agreed = try accept(choice)
                answer.media.append(section(for: agreed, choice, setup, isTagged: choice.index == first.index))
                sections.append(NegotiatedSection(mid: mid, line: MediaLine(media), media: agreed))
            } else {
                answer.media.append(MediaDescription(ended: MediaLine(media), mid: mid))
                sections.append(NegotiatedSection(mid: mid, line: MediaLine(media), media: nil))
            }
        }
        let sharing = try candidateSections(over: transport, of: choices)
        let session = NegotiatedSession(
            remoteICE: try theirs.ice(of: transport),
            remoteIsICELite: offer.isICELite,
            remoteICEOptions: Set(offer.iceOptions() + transport.iceOptions()),
            remoteCandidates: try theirs.candidates(of: sharing),
            remoteHasAllCandidates: sharing.contains(where: \.hasEndOfCandidates) || offer.has("end-of-candidates"),
            remoteFingerprints: try theirs.strongFingerprints(of: transport),
            localSetup: setup,
            sections: sections)
        return (answer, session)
    }

    private func emptyAnswer(bundling mids: [String]) throws(NegotiationError) -> SessionDescription {
        var answer = SessionDescription(
            origin: Origin(sessionID: parameters.sessionID, sessionVersion: parameters.sessionVersion))
        if try theirs.bundle() != nil {
            answer.append(attribute: "group", GroupAttribute(semantics: "BUNDLE", mids: mids).description)
        }
        answer.append(options: parameters.transport)
        return answer
    }

    /// Rejects all sections of a later offer: no media is sent, but the transport stays (RFC 3264 §8.2).
    private func end(
        _ agreed: NegotiatedSession
    ) throws(NegotiationError) -> (SessionDescription, NegotiatedSession) {
        var answer = try emptyAnswer(bundling: [])
        var sections: [NegotiatedSection] = []
        for media in offer.media {
            let section = NegotiatedSection(mid: try theirs.mid(media), line: MediaLine(media), media: nil)
            answer.media.append(MediaDescription(ended: section.line, mid: section.mid))
            sections.append(section)
        }
        return (answer, agreed.replacing(sections: sections))
    }

    private func choose() throws(NegotiationError) -> [Choice] {
        let bundle = Set(try theirs.bundle() ?? [])
        let tagged = try taggedSection()
        var choices: [Choice] = []
        for (index, media) in offer.media.enumerated() where choices.count < parameters.maximumSections {
            guard !media.isRejected, DescriptionReader.isRTP(media.protocol),
                let direction = direction(at: index)
            else { continue }
            let mid = try theirs.mid(media)
            let isBundled = mid.map(bundle.contains) ?? false
            guard isBundled || !media.has("bundle-only") else { continue }
            if let first = choices.first {
                let fits = isBundled && (first.mid.map(bundle.contains) ?? false)
                guard fits else { continue }
            }
            let codecs = try commonCodecs(
                media, sending: parameters.sending[index], sendsOnly: !direction.receives)
            guard !codecs.isEmpty else { continue }
            let isMultiplexed = media.hasRTCPMux || (isBundled && tagged?.hasRTCPMux == true)
            guard isMultiplexed else { throw NegotiationError(.offer, media.line, .rtcpMuxMissing) }
            choices.append(Choice(index: index, mid: mid, codecs: codecs, direction: direction))
        }
        return choices
    }

    /// Returns the direction of a section, as this side sees it; nil if the section has no use.
    private func direction(at index: Int) -> DirectionAttribute? {
        let theirs = self.theirs.direction(of: offer.media[index]) ?? .sendReceive
        let own = parameters.sending[index]
        let sends = theirs.receives && own?.direction.sends == true
        // A section only for receiving, without media of this side, is useful only if it was negotiated before.
        let wasAgreed = parameters.agreed.map { $0.sections.indices.contains(index) && $0.sections[index].media != nil }
        guard theirs.sends || sends || theirs == .inactive || wasAgreed == true else { return nil }
        return DirectionAttribute(sends: sends, receives: theirs.sends && !parameters.declined.contains(index))
    }

    /// Returns the known codecs of a section in the order of the offer, or in that of this side's preferences. Those of
    /// the same configuration come before others that the peer can only receive.
    private func commonCodecs(
        _ media: MediaDescription, sending section: OfferedSection?, sendsOnly: Bool
    ) throws(NegotiationError) -> [(own: NegotiableCodec, theirs: NegotiatedCodec)] {
        let preferred = section?.hasCodecPreferences == true ? section?.codecs : nil
        var known = (preferred ?? parameters.codecs).filter { $0.kind == media.kind }
        guard !known.isEmpty else { return [] }
        let (maps, values) = (try theirs.codecs(of: media), try theirs.parameters(of: media))
        var common: [(own: NegotiableCodec, theirs: NegotiatedCodec)] = []
        let types = theirs.payloadTypes(of: media)
        for leniency in sendsOnly ? [[], .isReceiver] as [FormatLeniency] : [[]] {
            for payloadType in types {
                guard let map = maps[payloadType],
                    let index = known.firstIndex(where: { $0.accepts(map, values[payloadType], leniency) })
                else { continue }
                var codec = known.remove(at: index)
                // This side's media is described as it was offered.
                codec = section?.codecs.first { $0.accepts(map, values[payloadType], leniency) } ?? codec
                if let format = codec.format {
                    codec.formatParameters = format.parameters.answer(to: FormatParameters(values[payloadType]))
                }
                common.append(
                    (codec, NegotiatedCodec(map: map, parameters: values[payloadType], format: codec.format)))
            }
        }
        common = common.withoutRTCPNumbers { $0.theirs }
        guard let preferred else {
            return types.compactMap { type in common.first { $0.theirs.map.payloadType == type } }
        }
        return preferred.compactMap { codec in common.first { $0.own.map == codec.map } }
    }

    /// Returns the section whose transport attributes apply: that of the choice, or the bundle's if the choice lacks
    /// them.
    private func transportSection(for choice: Choice) throws(NegotiationError) -> MediaDescription {
        let own = offer.media[choice.index]
        guard own.has("bundle-only"), !own.has("ice-ufrag") else { return own }
        return try taggedSection() ?? own
    }

    /// Returns the sections with candidates of the transport. In an offer that bundles all sections, only the bundle's first
    /// one has any (RFC 8829 §4.1.1), even if it is rejected.
    private func candidateSections(
        over transport: MediaDescription, of choices: [Choice]
    ) throws(NegotiationError) -> [MediaDescription] {
        let chosen = [transport] + choices.map { offer.media[$0.index] }
        guard let tagged = try taggedSection(), choices.first?.mid.map(Set(try theirs.bundle() ?? []).contains) == true,
            tagged.attribute("ice-ufrag")?.value == transport.attribute("ice-ufrag")?.value,
            (try? tagged.candidates()) != nil
        else { return chosen }
        return chosen + [tagged]
    }

    /// Returns the section with the attributes of its whole bundle (RFC 9143 §7.1.3); nil if there is no bundle.
    private func taggedSection() throws(NegotiationError) -> MediaDescription? {
        guard let tag = try theirs.bundle()?.first else { return nil }
        for media in offer.media where try theirs.mid(media) == tag { return media }
        return nil
    }

    private func localSetup(of media: MediaDescription) throws(NegotiationError) -> SetupAttribute {
        switch try theirs.setup(of: media) {
        case .active: return .passive
        case .holdconn: throw NegotiationError(.offer, theirs.setupLine(of: media), .setupHeld)
        case .passive: return .active
        // The existing association is kept, with its roles (RFC 8842 §5.3). RFC 4145 §4.1: a first offer without
        // `a=setup` is active, but deployed peers mean actpass.
        case .actpass, nil: return parameters.agreed?.localSetup ?? .active
        }
    }

    private mutating func accept(_ choice: Choice) throws(NegotiationError) -> NegotiatedMedia {
        let media = offer.media[choice.index]
        let theirs = self.theirs
        let codecs = try choice.codecs.map { own, codec throws(NegotiationError) -> NegotiatedCodec in
            var codec = codec
            let map = codec.map
            try numbers.claim(map, .offer, media)
            if own.rtxPayloadType != nil {
                codec.rtxPayloadType = try theirs.rtxPayloadType(for: map.payloadType, in: media)
            }
            if let rtx = codec.rtxPayloadType {
                try numbers.claim(
                    RTPMapAttribute(payloadType: rtx, encodingName: "rtx", clockRate: map.clockRate), .offer, media)
            }
            codec.feedback = try theirs.feedback(for: map.payloadType, in: media).intersection(own.feedback)
            let text = own.formatParameters
            codec.local = NegotiatedCodec.Local(
                payloadType: map.payloadType, rtxPayloadType: codec.rtxPayloadType,
                formatParameters: text == codec.format?.parameters.offered ? nil : text)
            return codec
        }
        let (own, map) = (choice.codecs[0].own, codecs[0].map)
        let correction = try correction(own, map, in: media, rtx: codecs[0].rtxPayloadType)
        var supported = parameters.extensions
        if !choice.codecs.contains(where: \.own.usesDependencyDescriptor) { supported.remove(.dependencyDescriptor) }
        var ids: [HeaderExtensionURI: UInt8] = [:]
        for (uri, map) in try theirs.extensions(of: media) where supported.contains(uri) {
            // Ids from 4096 request a number for which the offer had no room (RFC 8285 §7). They can be omitted.
            let peer = map.direction ?? .sendReceive
            let direction = choice.direction
            let isOfUse =
                (direction.receives && peer.sends) || (direction.sends && peer.receives) || direction == .inactive
            guard map.id < 256, ids[uri] == nil, isOfUse else { continue }
            ids[uri] = try numbers.claim(uri, map, theirs, media)
        }
        return NegotiatedMedia(
            mid: choice.mid, direction: choice.direction,
            isSendingOffered: parameters.sending[choice.index]?.direction.sends == true, codecs: codecs,
            opus: try theirs.opus(map, in: media), forwardErrorCorrection: correction,
            extensionIDs: ids, hasReducedSizeRTCP: media.hasReducedSizeRTCP, maximumRate: theirs.maximumRate(of: media),
            local: parameters.sending[choice.index].map(MediaSources.init) ?? .none,
            remote: try theirs.read { () throws(SDPError) in try MediaSources(media) })
    }

    /// Returns the forward error correction to accept. libwebrtc does not retransmit RED packets unless there is RTX
    /// for them. Then retransmissions without correction are worth more.
    private mutating func correction(
        _ own: NegotiableCodec, _ codec: RTPMapAttribute, in media: MediaDescription, rtx: UInt8?
    ) throws(NegotiationError) -> ForwardErrorCorrectionFormats? {
        guard own.forwardErrorCorrection != nil,
            var correction = try theirs.forwardErrorCorrection(for: codec, in: media)
        else { return nil }
        if rtx == nil { correction.redRetransmission = nil } else if correction.redRetransmission == nil { return nil }
        for map in correction.maps(clockRate: codec.clockRate) { try numbers.claim(map, .offer, media) }
        return correction
    }

    private func section(
        for agreed: NegotiatedMedia, _ choice: Choice, _ setup: SetupAttribute, isTagged: Bool
    ) -> MediaDescription {
        let formats =
            agreed.codecs.flatMap { [$0.map.payloadType, $0.rtxPayloadType].compactMap { $0 } }
            + (agreed.forwardErrorCorrection?.payloadTypes ?? [])
        let offered = offer.media[choice.index]
        var media = MediaDescription(
            kind: offered.kind, transport: isTagged ? parameters.transport : nil,
            // The protocol is the offer's, in its spelling (RFC 9429 §5.1.2).
            protocol: offered.protocol, formats: formats.map(String.init))
        if let mid = choice.mid { media.append(attribute: "mid", mid) }
        media.append(attribute: agreed.direction.rawValue)
        let own = parameters.sending[choice.index]
        if own?.isSlides == true { media.append(attribute: "content", "slides") }
        if let stream = own?.source?.stream { media.append(attribute: "msid", stream.description) }
        media.append(attribute: "rtcp-mux")
        if agreed.hasReducedSizeRTCP { media.append(attribute: "rtcp-rsize") }
        media.append(parameters.transport, setup: setup, withCandidates: isTagged)
        for (uri, id) in agreed.extensionIDs.sorted(by: { $0.value < $1.value }) {
            media.append(attribute: "extmap", ExtensionMapAttribute(id: UInt16(id), uri: uri.rawValue).description)
        }
        for ((own, _), codec) in zip(choice.codecs, agreed.codecs) {
            media.append(
                own, as: codec.map, feedback: own.feedback.filter(codec.feedback.contains), rtx: codec.rtxPayloadType)
        }
        if let correction = agreed.forwardErrorCorrection {
            media.append(correction, clockRate: agreed.codec.clockRate)
        }
        if let source = own?.source {
            media.append(source, hasRetransmission: agreed.codecs.contains { $0.rtxPayloadType != nil })
        }
        return media
    }
}
