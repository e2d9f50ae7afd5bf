internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

/// The sections of the descriptions, with their senders and receivers.
extension PeerConnection {
    /// Returns the sections of the next offer: the negotiated ones at their places, then the new media.
    func offeredSections() -> [OfferedSection] {
        let agreed = negotiated?.sections ?? []
        let own = Dictionary(
            outbound.indices.compactMap { index in outbound[index].section.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first })
        let declined = receivers.declinedSections
        var numbers = OfferNumbers(peers: agreed.indices.filter { own[$0] == nil }.compactMap { agreed[$0].media })
        // Codecs and extensions that are new in a section must not take the numbers of others.
        for (index, section) in agreed.enumerated() {
            guard let own = own[index], let media = section.media else { continue }
            numbers.reserve(ownSection(own).keeping(media, onlyAgreed: true))
        }
        var sections: [OfferedSection] = []
        for (index, section) in agreed.enumerated() {
            let mid = section.mid ?? newMid(at: index)
            if section.media == nil {
                sections.append(.ended(mid: mid, line: section.line))
            } else if let own = own[index], let media = section.media {
                var offered = ownSection(own).keeping(media)
                numbers.assign(&offered)
                sections.append(offered)
            } else if let media = section.media {
                var offered = OfferedSection(receiving: media, mid: mid)
                if declined.contains(index) { offered.direction = .inactive }
                sections.append(offered)
            }
        }
        for index in outbound.indices
        where outbound[index].section == nil && !outbound[index].hasEnded && isLeading(index) {
            var offered = ownSection(index)
            numbers.assign(&offered)
            sections.append(offered)
        }
        let receiving = receivingSections.filter { section in !agreed.contains { $0.mid == section.mid } }
        return sections + receiving
    }

    /// The video codecs of this side.
    var videoCodecs: [NegotiableCodec] { NegotiableCodec.video(configuration.videoFormats) }

    /// Adds a section to the next offer that requests media from the peer (W3C `addTransceiver`, recvonly).
    package mutating func addReceivingSection(isVideo: Bool) throws(PeerConnectionError) {
        guard !state.isOver else { throw .ended }
        guard receivingSections.count < Self.maximumMedia else { throw .tooManyMedia(limit: Self.maximumMedia) }
        let known = (negotiated?.sections.compactMap(\.mid) ?? []) + receivingSections.map(\.mid)
        let mid = identity.drawMid(avoiding: known, random: &random)
        let codecs = isVideo ? videoCodecs : [.opusReceived]
        receivingSections.append(
            OfferedSection(
                mid: mid, codecs: codecs,
                extensions: isVideo ? OfferedSection.videoExtensions(of: codecs) : OfferedSection.audioExtensions,
                direction: .receiveOnly, source: nil, isSlides: false))
    }

    /// Returns the new media of this side by the sections of the peer's offer. Each media, in order, takes the first
    /// section of its type in which the peer receives and nothing is sent (RFC 9429 §5.10).
    func places(in offer: SessionDescription) -> [Int: Int] {
        let reader = DescriptionReader(side: .offer, session: offer)
        var taken = Set(outbound.compactMap(\.section))
        var places: [Int: Int] = [:]
        for index in outbound.indices {
            guard outbound[index].section == nil, outbound[index].isWanted, !outbound[index].hasEnded, isLeading(index)
            else { continue }
            let kind = identity.media[index].kind.isVideo ? "video" : "audio"
            let place = offer.media.indices.first { section in
                let media = offer.media[section]
                let direction = reader.direction(of: media) ?? .sendReceive
                return media.kind == kind && !media.isRejected && direction.receives && !taken.contains(section)
            }
            guard let place else { continue }
            taken.insert(place)
            places[place] = index
        }
        return places
    }

    /// Returns one of this side's media for a section of the peer. All audio has one payload type there, and so one
    /// configuration (RFC 9143 §10.1.2).
    func answeringSection(_ index: Int) -> OfferedSection {
        var section = answeringOwnSection(index)
        if !identity.media[index].kind.isVideo { section.codecs = [.opusReceived] }
        return section
    }

    /// Returns one of this side's media for an answer: a single stream, since the peer's offers request no layers.
    func answeringOwnSection(_ index: Int) -> OfferedSection {
        var section = ownSection(index)
        section.source?.layers = []
        return section
    }

    /// Returns an `a=mid` for a section whose offerer named none, since a bundle requires one.
    private func newMid(at index: Int) -> String {
        let taken = (negotiated?.sections.compactMap(\.mid) ?? []) + identity.media.map(\.mid)
        var mid = "s\(index)"
        while taken.contains(mid) { mid += "s" }
        return mid
    }

    /// Returns one of this side's media for an offer or an answer.
    func ownSection(_ index: Int) -> OfferedSection {
        let media = identity.media[index]
        let source = OfferedSection.Source(
            stream: MediaStreamAttribute(streamID: media.kind.streamID, trackID: media.trackID), ssrc: media.source,
            rtxSSRC: media.kind.isVideo ? media.retransmissionSource : nil, cname: identity.canonicalName,
            layers: identity.layers(ofMedia: index).compactMap { identity.media[$0].layer })
        let direction = DirectionAttribute(
            sends: outbound[index].isWanted,
            receives: outbound[index].section.map { section in
                receivers.hasReceiver(ofSection: section) && !receivers.declinedSections.contains(section)
            } ?? false)
        guard media.kind.isVideo else {
            return .audio(mid: media.mid, source: source, isSlides: media.kind.isContent, direction: direction)
        }
        let preferences = outbound[index].codecPreferences
        var section = OfferedSection.video(
            mid: media.mid, codecs: NegotiableCodec.video(configuration.videoFormats, preferring: preferences),
            source: source, isSlides: media.kind.isContent, direction: direction)
        section.hasCodecPreferences = !preferences.isEmpty
        return section
    }

    /// Starts and stops senders and receivers according to a session. Those that continue keep their state. `places`
    /// has the media that start in a section of the peer.
    mutating func apply(_ session: NegotiatedSession, isOwnOffer: Bool, places: [Int: Int] = [:], now: Instant) {
        for (section, media) in places where session.sections[section].media != nil {
            for layer in identity.layers(ofMedia: media) { outbound[layer].section = section }
            if let mid = session.sections[section].mid { identity.setMid(mid, ofMedia: media) }
        }
        let agreed = negotiated?.sections ?? []
        for (index, section) in session.sections.enumerated() {
            let wasRejected = index < agreed.count && agreed[index].media == nil
            let isReused = wasRejected && agreed[index].mid != section.mid
            // A rejected section can return with the same media, as long as there is room for all.
            let isCrowded = receivers.isFull && section.media == nil
            if isReused || (wasRejected && isCrowded) { release(section: index) }
            if isOwnOffer, isReused || index >= agreed.count { place(section, at: index) }
        }
        if !isOwnOffer { giveWay(to: session) }
        let maximum = maximumBitrateOfPath
        negotiated = session
        if maximumBitrateOfPath != maximum { bandwidth.setMaximum(maximumBitrateOfPath, now: now) }
        for index in outbound.indices {
            applySending(media: index, now: now)
            if let section = outbound[index].section, session.sections[section].media == nil {
                outbound[index].hasEnded = true
            }
        }
        for (index, section) in session.sections.enumerated() {
            receivers.apply(section, at: index, random: &random)
        }
        receivers.beginTransportFeedback()
    }

    /// Releases the media of a rejected section, which has other media from now on.
    private mutating func release(section: Int) {
        for index in outbound.indices where outbound[index].section == section { outbound[index].section = nil }
        receivers.release(section: section)
    }

    private mutating func place(_ section: NegotiatedSection, at place: Int) {
        let index = outbound.indices.first { index in
            outbound[index].section == nil && !outbound[index].hasEnded && identity.media[index].mid == section.mid
                && (identity.media[index].kind.isVideo ? "video" : "audio") == section.kind
        }
        guard let index else { return }
        for layer in identity.layers(ofMedia: index) { outbound[layer].section = place }
    }

    /// Replaces an `a=mid` of this side's new media that the peer has used.
    private mutating func giveWay(to session: NegotiatedSession) {
        let mids = Set(session.sections.compactMap(\.mid))
        for index in outbound.indices where outbound[index].section == nil && mids.contains(identity.media[index].mid) {
            identity.redrawMid(ofMedia: index, avoiding: mids, random: &random)
        }
    }

    /// Starts a media if the descriptions and its owner allow it, otherwise stops it.
    mutating func applySending(media index: Int, now: Instant) {
        bandwidth.allocation.isDue = true
        if outbound[index].isWanted, !outbound[index].isHeldBack, agreement(media: index) == .agreed,
            let media = negotiatedMedia(index),
            var parameters = OutgoingStream.Parameters(
                media, source: identity.media[index], layer: negotiatedLayer(index, of: media))
        {
            if !configuration.congestionDeviations.contains(.lossPolicy) { parameters.forwardErrorCorrection = nil }
            outbound[index].start(
                parameters, isVideo: identity.media[index].kind.isVideo, maximumBitrate: configuration.maximumBitrate,
                random: &random)
        } else if outbound[index].isActive {
            queueGoodbye(ofMedia: index, now: now)
            outbound[index].pause()
        }
        var sounding: Set<String> = []
        for index in outbound.indices where outbound[index].isActive && outbound[index].audio != nil {
            sounding.insert(identity.media[index].kind.streamID)
        }
        for index in outbound.indices {
            let isWithSound = sounding.contains(identity.media[index].kind.streamID)
            outbound[index].video?.isWithSound = isWithSound
        }
    }
}

extension OutgoingStream.Parameters {
    init?(_ media: NegotiatedMedia, source: LocalMedia, layer: NegotiatedLayer?) {
        guard let payloadType = PayloadType(media.payloadType) else { return nil }
        self.source = SynchronizationSource(source.source)
        self.payloadType = payloadType
        self.layer = layer?.id
        mid = media.mid ?? ""
        var extensions = HeaderExtensionMap(media)
        // Without feedback on them, transport-wide numbers are useless.
        if !media.feedback.contains(.transportWide) { extensions[.transportSequenceNumber] = nil }
        self.extensions = extensions
        isContent = media.local.isSlides
        formats = layer?.limiting(media.formats) ?? media.formats
        let isIdentifiable = layer == nil || media.extensionIDs[.repairedStreamIdentification] != nil
        if isIdentifiable, formats.contains(where: { $0.retransmission != nil }) {
            retransmissionSource = SynchronizationSource(source.retransmissionSource)
            forwardErrorCorrection = media.forwardErrorCorrection.flatMap { ForwardErrorCorrectionTypes($0) }
        } else {
            // A retransmission with the original sequence number would need RED again.
            retransmissionSource = nil
        }
    }
}

extension OfferedSection {
    /// Creates a section in which the peer sends, with the numbers that were negotiated.
    fileprivate init(receiving media: NegotiatedMedia, mid: String) {
        let codecs = media.codecs.map { agreed in
            var codec = NegotiableCodec.opusReceived
            if !agreed.map.isOpus {
                codec = NegotiableCodec(
                    kind: "video", map: agreed.map,
                    formatParameters: agreed.local.formatParameters ?? agreed.format?.parameters.offered,
                    feedback: NegotiableCodec.videoFeedback,
                    rtxPayloadType: agreed.rtxPayloadType.flatMap { _ in agreed.local.rtxPayloadType },
                    forwardErrorCorrection: media.forwardErrorCorrection, format: agreed.format)
            }
            codec.map = agreed.map.with(payloadType: agreed.local.payloadType)
            codec.feedback = codec.feedback.filter(agreed.feedback.contains)
            return codec
        }
        self.init(
            mid: mid, codecs: codecs,
            extensions: media.extensionIDs.sorted { $0.value < $1.value }.map {
                ExtensionMapAttribute(id: UInt16($0.value), uri: $0.key.rawValue)
            }, direction: .receiveOnly, source: nil, isSlides: false)
    }

    /// Returns the section with the numbers and the parameters that the codecs and the extensions of `media` already
    /// have in this side's descriptions, which must not change (RFC 3264 §8.3.2). With `onlyAgreed`, it has nothing else.
    fileprivate func keeping(_ media: NegotiatedMedia, onlyAgreed: Bool = false) -> OfferedSection {
        var section = self
        let isSymmetric = media.codecs.allSatisfy { $0.local.payloadType == $0.map.payloadType }
        section.codecs = codecs.compactMap { codec in
            let agreed = media.codecs.first { $0.format === codec.format && $0.map.isSameEncoding(as: codec.map) }
            guard let agreed else { return onlyAgreed ? nil : codec }
            var codec = codec
            codec.map = codec.map.with(payloadType: agreed.local.payloadType)
            if codec.rtxPayloadType != nil {
                codec.rtxPayloadType = agreed.local.rtxPayloadType ?? codec.rtxPayloadType
            }
            codec.formatParameters = agreed.local.formatParameters ?? codec.formatParameters
            if codec.forwardErrorCorrection != nil, isSymmetric, let correction = media.forwardErrorCorrection {
                codec.forwardErrorCorrection = correction
            }
            guard onlyAgreed else { return codec }
            if agreed.rtxPayloadType == nil { codec.rtxPayloadType = nil }
            if media.forwardErrorCorrection == nil { codec.forwardErrorCorrection = nil }
            return codec
        }
        section.extensions = extensions.compactMap { map in
            let id = HeaderExtensionURI(rawValue: map.uri).flatMap { media.extensionIDs[$0] }
            if onlyAgreed, id == nil { return nil }
            return ExtensionMapAttribute(id: id.map { UInt16($0) } ?? map.id, direction: map.direction, uri: map.uri)
        }
        return section
    }
}
