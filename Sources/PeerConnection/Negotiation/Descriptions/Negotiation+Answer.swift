package import RTCShareRTP
package import RTCShareSDP

extension Negotiation {
    /// Returns the session that our offer and the peer's answer negotiate.
    ///
    /// Every legal answer is accepted: with other payload types and extension ids, with rejected sections, without
    /// retransmission, from an ICE-lite peer, with attributes in the session. An answer that rejects all sections ends
    /// all media of the session `agreed`, and is an error if there was none.
    /// - Parameter videoFormats: The payload formats of the offer, whose rules for parameters apply.
    package static func negotiate(
        offer: SessionDescription, answer: SessionDescription, agreed: NegotiatedSession? = nil,
        videoFormats: [any VideoPayloadFormat] = VideoPayloadFormats.basic
    ) throws(NegotiationError) -> NegotiatedSession {
        let matching = AnswerMatching(
            ours: DescriptionReader(side: .offer, session: offer),
            theirs: DescriptionReader(side: .answer, session: answer), videoFormats: videoFormats)
        try matching.checkThatThisIsAnAnswer()
        try matching.checkSections()
        return try matching.session(after: agreed)
    }
}

/// The comparison of an answer with its offer.
private struct AnswerMatching {
    let ours: DescriptionReader
    let theirs: DescriptionReader
    let videoFormats: [any VideoPayloadFormat]

    private var offer: SessionDescription { ours.session }
    private var answer: SessionDescription { theirs.session }

    /// Throws an error if the answer is the offer itself or another offer. This mistake is the most frequent one, and
    /// has its own error message.
    func checkThatThisIsAnAnswer() throws(NegotiationError) {
        guard let first = answer.media.first else {
            throw NegotiationError(.answer, answer.lines.last, .noMedia)
        }
        let sameFragment = first.attribute("ice-ufrag") == offer.media.first?.attribute("ice-ufrag")
        if offer.origin?.sessionID == answer.origin?.sessionID, sameFragment, first.has("ice-ufrag") {
            throw NegotiationError(.answer, answer.line(at: 1), .ownOffer)
        }
        for media in answer.media where !media.isRejected {
            if try theirs.setup(of: media) == .actpass {
                throw NegotiationError(.answer, theirs.setupLine(of: media), .offerInsteadOfAnswer)
            }
        }
    }

    func checkSections() throws(NegotiationError) {
        let offered = offer.media
        let answered = answer.media
        guard offered.count == answered.count else {
            let stray = answered.count > offered.count ? answered[offered.count].line : answered.last?.line
            throw NegotiationError(
                .answer, stray, .sectionCount(offered: offered.count, answered: answered.count))
        }
        for (ours, theirs) in zip(offered, answered) {
            guard ours.kind == theirs.kind else {
                throw NegotiationError(.answer, theirs.line, .sectionKind(offered: ours.kind, answered: theirs.kind))
            }
            guard let offeredMid = try self.ours.mid(ours), let mid = try self.theirs.mid(theirs) else { continue }
            guard offeredMid == mid else {
                throw NegotiationError(
                    .answer, theirs.attribute("mid"), .mid(offered: offeredMid, answered: mid))
            }
        }
    }

    func session(after agreed: NegotiatedSession?) throws(NegotiationError) -> NegotiatedSession {
        let accepted = try acceptedSections()
        guard let first = accepted.first else {
            guard let agreed else { throw NegotiationError(.answer, answer.media.first?.line, .allRejected) }
            return try ended(agreed)
        }
        let tagged = try taggedSection(accepted: accepted) ?? first
        let transport = answer.media[tagged]
        for index in accepted {
            let name = answer.media[index].protocol
            guard DescriptionReader.isRTP(name) else {
                throw NegotiationError(.answer, answer.media[index].line, .mediaProtocol(name))
            }
        }
        let setup = try localSetup(of: transport)
        let sharing = [transport] + accepted.filter { $0 != tagged }.map { answer.media[$0] }
        var numbers = BundledNumbers()
        var sections: [NegotiatedSection] = []
        for index in answer.media.indices {
            sections.append(
                try accepted.contains(index)
                    ? section(at: index, transport, &numbers)
                    : NegotiatedSection(
                        mid: try ours.mid(offer.media[index]), line: MediaLine(offer.media[index]), media: nil))
        }
        return NegotiatedSession(
            remoteICE: try theirs.ice(of: transport),
            remoteIsICELite: answer.isICELite,
            remoteICEOptions: Set(answer.iceOptions() + transport.iceOptions()),
            remoteCandidates: try theirs.candidates(of: sharing),
            remoteHasAllCandidates: transport.hasEndOfCandidates || answer.has("end-of-candidates"),
            remoteFingerprints: try theirs.strongFingerprints(of: transport),
            localSetup: setup,
            sections: sections)
    }

    /// Returns the sections that have a port, or that use the port of their bundle: answers according to RFC 8843 §7.3
    /// have `a=bundle-only` and port 0 in all sections except the bundle's first.
    private func acceptedSections() throws(NegotiationError) -> [Int] {
        let bundle = Set(try theirs.bundle() ?? [])
        var accepted: [Int] = []
        for (index, media) in answer.media.enumerated() where !media.isRejected {
            let isBundled = try ours.mid(offer.media[index]).map(bundle.contains) ?? false
            if media.port != 0 || isBundled { accepted.append(index) }
        }
        return accepted
    }

    /// Returns a session whose last section was rejected: no media is sent, but the transport stays.
    private func ended(_ agreed: NegotiatedSession) throws(NegotiationError) -> NegotiatedSession {
        _ = try taggedSection(accepted: [])
        var sections: [NegotiatedSection] = []
        for media in offer.media {
            sections.append(NegotiatedSection(mid: try ours.mid(media), line: MediaLine(media), media: nil))
        }
        return agreed.replacing(sections: sections)
    }

    /// Returns the section whose transport attributes apply to the bundle (RFC 9143 §7.3.1); nil if there is no bundle.
    ///
    /// A rejected section must not be in the bundle (§7.3.3). Deployed servers leave it there, which does no harm
    /// unless it is the first.
    private func taggedSection(accepted: [Int]) throws(NegotiationError) -> Int? {
        let line = theirs.bundleLine
        let bundle = try theirs.bundle()
        let offered = try ours.bundle() ?? []
        var members: [Int] = []
        for mid in bundle ?? [] {
            guard offered.contains(mid), let index = try index(ofOffered: mid) else {
                throw NegotiationError(.answer, line, .bundleStranger(mid))
            }
            if accepted.contains(index) {
                members.append(index)
            } else if mid == bundle?.first, !accepted.isEmpty {
                throw NegotiationError(.answer, line, .bundleRejected(mid))
            }
        }
        // A single section needs no bundle, but several must share the one offered transport.
        if accepted.count > 1, let outside = accepted.first(where: { !members.contains($0) }) {
            let media = answer.media[outside]
            let mid = try ours.mid(offer.media[outside]) ?? String(outside)
            throw NegotiationError(.answer, media.line, .outsideBundle(mid))
        }
        return members.first
    }

    private func index(ofOffered mid: String) throws(NegotiationError) -> Int? {
        for (index, media) in offer.media.enumerated() where try ours.mid(media) == mid { return index }
        return nil
    }

    private func localSetup(of media: MediaDescription) throws(NegotiationError) -> SetupAttribute {
        let line = theirs.setupLine(of: media)
        return switch try theirs.setup(of: media) {
        case .active: .passive
        case .passive: .active
        case .actpass: throw NegotiationError(.answer, line, .offerInsteadOfAnswer)
        case .holdconn: throw NegotiationError(.answer, line, .setupHeld)
        case nil: throw NegotiationError(.answer, line, .setupMissing)
        }
    }

    /// Returns an accepted section. Attributes of a whole bundle, such as `a=rtcp-mux`, can be only in the
    /// `transport`'s section (RFC 9143 §7.1.3).
    private func section(
        at index: Int, _ transport: MediaDescription, _ numbers: inout BundledNumbers
    ) throws(NegotiationError) -> NegotiatedSection {
        let offered = offer.media[index]
        let answered = answer.media[index]
        let mid = try ours.mid(offered)
        let line = MediaLine(offered)
        guard !offered.isRejected else { throw NegotiationError(.answer, answered.line, .sectionEnded) }
        guard answered.hasRTCPMux || transport.hasRTCPMux else {
            throw NegotiationError(.answer, answered.line, .rtcpMuxMissing)
        }
        let direction = try localDirection(offered, answered)
        let common = try commonCodecs(offered, answered, sendsOnly: !direction.receives)
        let codecs = try common.map { own, codec throws(NegotiationError) -> NegotiatedCodec in
            try numbers.claim(codec.map, .answer, answered)
            var codec = codec
            let rtx = try ours.rtxPayloadType(for: own.payloadType, in: offered)
            if rtx != nil {
                codec.rtxPayloadType = try theirs.rtxPayloadType(for: codec.map.payloadType, in: answered)
            }
            if let rtx = codec.rtxPayloadType {
                let map = RTPMapAttribute(payloadType: rtx, encodingName: "rtx", clockRate: codec.map.clockRate)
                try numbers.claim(map, .answer, answered)
            }
            codec.feedback = try ours.feedback(for: own.payloadType, in: offered)
                .intersection(try theirs.feedback(for: codec.map.payloadType, in: answered))
            let text = try ours.parameters(of: offered)[own.payloadType]?.text
            codec.local = NegotiatedCodec.Local(
                payloadType: own.payloadType, rtxPayloadType: rtx,
                formatParameters: text == codec.format?.parameters.offered ? nil : text)
            return codec
        }
        let (own, codec) = (common[0].offered, common[0].answered.map)
        let correction = try correction(offered, own, answered, codec, &numbers)
        let ids = try extensionIDs(offered, answered, direction, &numbers)
        return NegotiatedSection(
            mid: mid, line: line,
            media: NegotiatedMedia(
                mid: mid, direction: direction,
                isSendingOffered: (ours.direction(of: offered) ?? .sendReceive).sends, codecs: codecs,
                opus: try theirs.opus(codec, in: answered), forwardErrorCorrection: correction,
                extensionIDs: ids,
                // Without the ids in packets, the layers could not be distinguished.
                layers: ids[.streamIdentification] == nil ? [] : theirs.layers(of: answered, sentBy: offered),
                hasReducedSizeRTCP: offered.hasReducedSizeRTCP && answered.hasReducedSizeRTCP,
                maximumRate: theirs.maximumRate(of: answered),
                local: try ours.read { () throws(SDPError) in try MediaSources(offered) },
                remote: direction.receives
                    ? try theirs.read { () throws(SDPError) in try MediaSources(answered) } : .none))
    }

    /// Returns the offered forward error correction with the answer's payload types.
    private func correction(
        _ offered: MediaDescription, _ own: RTPMapAttribute, _ answered: MediaDescription, _ codec: RTPMapAttribute,
        _ numbers: inout BundledNumbers
    ) throws(NegotiationError) -> ForwardErrorCorrectionFormats? {
        guard try ours.forwardErrorCorrection(for: own, in: offered) != nil,
            let correction = try theirs.forwardErrorCorrection(for: codec, in: answered)
        else { return nil }
        for map in correction.maps(clockRate: codec.clockRate) { try numbers.claim(map, .answer, answered) }
        return correction
    }

    /// Returns this side's direction. RFC 3264 §6.1: a side whose direction lacks receiving must not get media, and a
    /// side must not send to it.
    ///
    /// If the answer has no direction, which means sendrecv, this returns the part of it that fits.
    private func localDirection(
        _ offered: MediaDescription, _ answered: MediaDescription
    ) throws(NegotiationError) -> DirectionAttribute {
        let own = ours.direction(of: offered) ?? .sendReceive
        let said = self.theirs.direction(of: answered)
        let theirs = said ?? .sendReceive
        if let said, (said.sends && !own.receives) || (said.receives && !own.sends) {
            let lines = answered.lines + answer.lines
            let line = lines.first { $0.attributeName.map(String.init) == said.rawValue }
            throw NegotiationError(.answer, line, .direction(offered: own, answered: said))
        }
        return DirectionAttribute(
            sends: own.sends && theirs.receives, receives: own.receives && theirs.sends)
    }

    /// Returns the answer's codecs that were offered, at least one, with the offer's payload types. Packets have the
    /// answer's payload type (RFC 3264 §5.1).
    ///
    /// A payload type of the offer means the same codec in the answer, even if its parameters are incomplete.
    private func commonCodecs(
        _ offered: MediaDescription, _ answered: MediaDescription, sendsOnly: Bool
    ) throws(NegotiationError) -> [(offered: RTPMapAttribute, answered: NegotiatedCodec)] {
        let own = try (codecs: ours.codecs(of: offered), parameters: ours.parameters(of: offered))
        let peer = try (codecs: theirs.codecs(of: answered), parameters: theirs.parameters(of: answered))
        var candidates = ours.payloadTypes(of: offered).compactMap { own.codecs[$0] }
            .filter { !ForwardErrorCorrectionFormats.isAuxiliary($0) }
            .map { (map: $0, format: videoFormats.format(offered: $0, own.parameters[$0.payloadType])) }
        var common: [(offered: RTPMapAttribute, answered: NegotiatedCodec)] = []
        var others: [NegotiatedCodec] = []
        for payloadType in theirs.payloadTypes(of: answered) {
            // Without its own `a=rtpmap`, a payload type has the offer's meaning.
            let named = peer.codecs[payloadType]
            guard let map = named ?? own.codecs[payloadType], !ForwardErrorCorrectionFormats.isAuxiliary(map) else {
                continue
            }
            let parameters = peer.parameters[payloadType] ?? (named == nil ? own.parameters[payloadType] : nil)
            var codec = NegotiatedCodec(map: map, parameters: parameters)
            let values = FormatParameters(parameters)
            func index(_ leniency: FormatLeniency) -> Int? {
                candidates.firstIndex { candidate in
                    candidate.map.isSameEncoding(as: map)
                        && (candidate.map.payloadType == payloadType || !leniency.contains(.repeatsOffer))
                        && candidate.format?.parameters.accepts(values, leniency) ?? true
                }
            }
            let receives: FormatLeniency = sendsOnly ? .isReceiver : []
            if let index = index(receives.union(.repeatsOffer)) ?? index([]) ?? index(receives) {
                let own = candidates.remove(at: index)
                codec.format = own.format
                common.append((own.map, codec))
            } else {
                others.append(codec)
            }
        }
        common = common.withoutRTCPNumbers { $0.answered }
        guard common.isEmpty else { return common }
        try theirs.read { () throws(SDPError) in try answered.checkClockRates() }
        throw NegotiationError(
            .answer, answered.line, .noCommonCodec(offered: candidates.map(\.map), answered: others))
    }

    private func extensionIDs(
        _ offered: MediaDescription, _ answered: MediaDescription, _ direction: DirectionAttribute,
        _ numbers: inout BundledNumbers
    ) throws(NegotiationError) -> [HeaderExtensionURI: UInt8] {
        let wanted = Set(try ours.extensions(of: offered).map(\.uri))
        var ids: [HeaderExtensionURI: UInt8] = [:]
        for (uri, map) in try theirs.extensions(of: answered) where wanted.contains(uri) && ids[uri] == nil {
            // The direction is the answerer's: extensions that only the answerer sends, or that are inactive, must not
            // be sent by us.
            let peer = map.direction ?? .sendReceive
            guard (direction.sends && peer.receives) || (direction.receives && peer.sends) || direction == .inactive
            else { continue }
            ids[uri] = try numbers.claim(uri, map, theirs, answered)
        }
        return ids
    }
}

extension SessionDescription {
    fileprivate func line(at index: Int) -> SDPLine? {
        lines.indices.contains(index) ? lines[index] : nil
    }
}
