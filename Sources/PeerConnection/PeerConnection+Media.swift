internal import RTCShareSDP
package import RTCShareWireFormat

/// This side's media, addressed by their index.
extension PeerConnection {
    /// The most media that one connection sends, and the most sections that it takes of a peer. Media that have ended are
    /// not among them.
    package static var maximumMedia: Int { 16 }

    /// This side's media, in the order of their indices.
    package var localMedia: [LocalMedia] { identity.media }

    /// Adds one: with the next offer and its answer it is in effect. Returns its index. A track's id that is not given is
    /// drawn.
    package mutating func addMedia(
        _ kind: LocalIdentity.MediaKind, trackID: String? = nil
    ) throws(PeerConnectionError) -> Int {
        guard !state.isOver else { throw .ended }
        guard outbound.count(where: { !$0.hasEnded }) < Self.maximumMedia else {
            throw .tooManyMedia(limit: Self.maximumMedia)
        }
        for text in [kind.streamID, trackID ?? "-"] where !Negotiation.isToken(text) { throw .notAToken(text) }
        identity.add(kind, trackID: trackID, mids: negotiated?.sections.compactMap(\.mid) ?? [], random: &random)
        outbound.append(OutboundMedia())
        return identity.media.count - 1
    }

    /// Stops a media, or begins it again: at once, as far as the descriptions allow, and in the next description, which
    /// says `inactive` or `sendonly`. Stopping says goodbye for the source; a picture begins again with a key frame,
    /// which is asked for. An unknown index does nothing.
    package mutating func setSending(_ isSending: Bool, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media) else { return }
        outbound[media].isWanted = isSending
        applySending(media: media, now: now)
        advance(now: now)
    }

    /// Holds a media back, or sends it again, as ``setSending(_:media:now:)`` does, but leaves it its place in the descriptions:
    /// it can be sent again at any time. An unknown index does nothing.
    package mutating func setHeldBack(_ isHeldBack: Bool, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media) else { return }
        outbound[media].isHeldBack = isHeldBack
        applySending(media: media, now: now)
        advance(now: now)
    }

    /// Tells the peer with the next reports, the first of which is due at once, that a media is shared to a subgroup, or nil
    /// to everybody. An unknown index does nothing.
    package mutating func setSubgroup(_ subgroup: String?, media: Int, now: Instant) {
        guard !state.isOver, outbound.indices.contains(media), outbound[media].subgroup != subgroup else { return }
        outbound[media].subgroup = subgroup
        outbound[media].nextReport = nil
        advance(now: now)
    }

    /// Has the next description of this side ask for what a receiver gets, or decline it for now (`inactive`). An unknown
    /// index does nothing.
    package mutating func setReceiving(_ isReceiving: Bool, receiver: Int) {
        receivers.setWanted(isReceiving, receiver: receiver)
    }

    /// Whether a media is sent: the newest descriptions agree on it, and it was neither stopped since nor is it held back.
    package func isSending(media: Int) -> Bool {
        outbound.indices.contains(media) && outbound[media].isActive
    }

    /// What the newest descriptions say of a media, be it stopped or not; pending for an unknown index.
    package func agreement(media: Int) -> MediaAgreement {
        guard outbound.indices.contains(media) else { return .pending }
        if outbound[media].hasEnded { return .refused }
        guard let negotiated = negotiatedMedia(media) else { return .pending }
        if negotiated.direction.sends { return .agreed }
        return negotiated.isSendingOffered ? .refused : .pending
    }

    /// Whether the section of a media was rejected: it is never sent again. The same can be added anew, under another
    /// index.
    package func hasEnded(media: Int) -> Bool {
        outbound.indices.contains(media) && outbound[media].hasEnded
    }

    /// What the peer asks of whoever sends it sound in the section of this media; nil where it isn't sound, or was not
    /// agreed on.
    package func opusParameters(media: Int) -> OpusParameters? {
        negotiatedMedia(media)?.opus
    }

    /// What the peer asks of one media; no limits before its description is known, or for an unknown index.
    package func mediaLimits(media: Int) -> SendingLimits {
        negotiatedMedia(media).map { SendingLimits($0) } ?? SendingLimits()
    }

    /// What was agreed for one of this side's media.
    func negotiatedMedia(_ index: Int) -> NegotiatedMedia? {
        guard let negotiated, outbound.indices.contains(index), let section = outbound[index].section,
            negotiated.sections.indices.contains(section)
        else { return nil }
        return negotiated.sections[section].media
    }
}

/// What the descriptions say of one of this side's media.
package enum MediaAgreement: Sendable, Hashable {
    /// No description that was answered has a place for it, or this side's own said that it is not sent.
    case pending
    /// The peer takes it.
    case agreed
    /// The peer rejected its section, or doesn't receive in it what this side would send.
    case refused
}
