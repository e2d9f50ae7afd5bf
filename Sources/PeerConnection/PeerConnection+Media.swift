package import RTCShareRTP
internal import RTCShareSDP
package import RTCShareWireFormat

/// This side's media, addressed by their index.
extension PeerConnection {
    /// The maximum number of media that one connection sends, and of sections that it accepts from a peer. Ended media
    /// do not count.
    package static var maximumMedia: Int { 16 }

    /// This side's media, in the order of their indices.
    package var localMedia: [LocalMedia] { identity.media }

    /// Adds a media, which takes effect with the next offer and its answer. Returns its index. Without a track id, a
    /// random one is used. With layers, their `a=rid`, it is a simulcast: a media for each follows, in one section of
    /// the descriptions. If the peer accepts no simulcast, only the first is sent.
    package mutating func addMedia(
        _ kind: LocalIdentity.MediaKind, trackID: String? = nil, layers: [String] = []
    ) throws(PeerConnectionError) -> Int {
        guard !state.isOver else { throw .ended }
        let count = max(1, layers.count)
        guard outbound.count(where: { !$0.hasEnded }) + count <= Self.maximumMedia else {
            throw .tooManyMedia(limit: Self.maximumMedia)
        }
        for text in [kind.streamID, trackID ?? "-"] where !Negotiation.isToken(text) { throw .notAToken(text) }
        let index = identity.media.count
        identity.add(
            kind, trackID: trackID, layers: layers, mids: negotiated?.sections.compactMap(\.mid) ?? [], random: &random)
        outbound += (0..<count).map { _ in OutboundMedia() }
        return index
    }

    /// Returns the media of the layers of a simulcast, the best first, or the media alone.
    package func layers(ofMedia index: Int) -> [Int] {
        outbound.indices.contains(index) ? identity.layers(ofMedia: index) : []
    }

    /// Whether a media has its section for itself, or is the best layer of a simulcast, which is sent to peers without
    /// simulcast.
    func isLeading(_ index: Int) -> Bool {
        identity.media[index].layer == nil || identity.layers(ofMedia: index)[0] == index
    }

    /// Returns the agreement on the layer of a media; nil for a single stream, or if the peer accepts no simulcast.
    func negotiatedLayer(_ index: Int, of media: NegotiatedMedia) -> NegotiatedLayer? {
        identity.media[index].layer.flatMap { id in media.layers.first { $0.id == id } }
    }

    /// Whether the peer accepts the layer of a media, with one of the codecs at least, or it is a single stream.
    func acceptsLayer(_ index: Int, of media: NegotiatedMedia) -> Bool {
        guard !media.layers.isEmpty else { return isLeading(index) }
        return negotiatedLayer(index, of: media).map { !$0.limiting(media.formats).isEmpty } ?? false
    }

    /// Stops or restarts a media: immediately, as far as the descriptions allow it, and in the next description, which
    /// has `inactive` or `sendonly`. Stopping sends a goodbye for the source. Video restarts with a key frame, which is
    /// requested. An unknown index has no effect.
    package mutating func setSending(_ isSending: Bool, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media) else { return }
        outbound[media].isWanted = isSending
        applySending(media: media, now: now)
        advance(now: now)
    }

    /// Holds a media back or releases it, similar to ``setSending(_:media:now:)``, but without a change of the
    /// descriptions, so that it can resume at any time. An unknown index has no effect.
    package mutating func setHeldBack(_ isHeldBack: Bool, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media) else { return }
        outbound[media].isHeldBack = isHeldBack
        applySending(media: media, now: now)
        advance(now: now)
    }

    /// Sets the codecs of a video in the next description of this side, in order of preference (W3C
    /// `setCodecPreferences`). Without one of the configuration's formats, the description has all of them. An unknown
    /// index has no effect.
    package mutating func setCodecPreferences(_ formats: [any VideoPayloadFormat], media: Int) {
        guard outbound.indices.contains(media) else { return }
        outbound[media].codecPreferences = formats
    }

    /// Announces, with the next reports, that a media is shared to a subgroup, or with nil to all participants. The
    /// first report is due immediately. An unknown index has no effect.
    package mutating func setSubgroup(_ subgroup: String?, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media), outbound[media].subgroup != subgroup else { return }
        outbound[media].subgroup = subgroup
        outbound[media].nextReport = nil
        advance(now: now)
    }

    /// Requests or declines (`inactive`) a receiver's media in the next description of this side. An unknown index has
    /// no effect.
    package mutating func setReceiving(_ isReceiving: Bool, receiver: Int) {
        receivers.setWanted(isReceiving, receiver: receiver)
    }

    /// Whether a media is sent: the latest descriptions allow it, and it was neither stopped since nor is it held back.
    package func isSending(media: Int) -> Bool {
        outbound.indices.contains(media) && outbound[media].isActive
    }

    /// Returns the agreement on a media in the latest descriptions, even if it is stopped; pending for an unknown
    /// index.
    package func agreement(media: Int) -> MediaAgreement {
        guard outbound.indices.contains(media) else { return .pending }
        if outbound[media].hasEnded { return .refused }
        guard let negotiated = negotiatedMedia(media) else { return .pending }
        guard acceptsLayer(media, of: negotiated) else { return .refused }
        if negotiatedLayer(media, of: negotiated)?.isPaused == true { return .pending }
        if negotiated.direction.sends { return .agreed }
        return negotiated.isSendingOffered ? .refused : .pending
    }

    /// Whether the section of a media was rejected, so that it is never sent again. The same media can be added again
    /// with another index.
    package func hasEnded(media: Int) -> Bool {
        outbound.indices.contains(media) && outbound[media].hasEnded
    }

    /// Returns the peer's parameters for audio in the section of this media; nil if it is not audio, or was not
    /// negotiated.
    package func opusParameters(media: Int) -> OpusParameters? {
        negotiatedMedia(media)?.opus
    }

    /// Returns the peer's limits for one media; no limits before its description, or for an unknown index.
    ///
    /// The limits of frames are those of the peer's first codec; see ``videoFormats(media:)`` for each.
    package func mediaLimits(media: Int) -> SendingLimits {
        guard let negotiated = negotiatedMedia(media) else { return SendingLimits() }
        var limits = SendingLimits(negotiated, videoFormats(media: media).first?.limits)
        limits.limitBitrate(to: negotiatedLayer(media, of: negotiated)?.maximumBitrate)
        return limits
    }

    /// Returns the codecs that the peer accepts for a video, in its order of preference; empty for audio, before its
    /// description, or for an unknown index.
    package func videoFormats(media: Int) -> [NegotiatedFormat] {
        guard let negotiated = negotiatedMedia(media) else { return [] }
        return negotiatedLayer(media, of: negotiated)?.limiting(negotiated.formats) ?? negotiated.formats
    }

    /// Returns the negotiated values of one of this side's media.
    func negotiatedMedia(_ index: Int) -> NegotiatedMedia? {
        guard let negotiated, outbound.indices.contains(index), let section = outbound[index].section,
            negotiated.sections.indices.contains(section)
        else { return nil }
        return negotiated.sections[section].media
    }
}

/// The agreement on one of this side's media.
package enum MediaAgreement: Sendable, Hashable {
    /// No answered description has a section for the media, or this side's description does not send it.
    case pending
    /// The peer accepts the media.
    case agreed
    /// The peer rejected the media's section, or does not receive in it.
    case refused
}
