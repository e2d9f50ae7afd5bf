internal import SDP
public import WireFormat

/// This side's media, addressed by their index.
extension PeerConnection {
    /// The most media that one connection sends, and the most sections that it takes of a peer.
    public static var maximumMedia: Int { 16 }

    /// This side's media, in the order of their indices.
    public var localMedia: [LocalMedia] { identity.media }

    /// Adds one: with the next offer and its answer it is in effect. Returns its index. A track's id that is not given is
    /// drawn.
    public mutating func addMedia(
        _ kind: LocalIdentity.MediaKind, trackID: String? = nil
    ) throws(PeerConnectionError) -> Int {
        guard progress != .ended else { throw .ended }
        guard identity.media.count < Self.maximumMedia else { throw .tooManyMedia(limit: Self.maximumMedia) }
        for text in [kind.streamID, trackID ?? "-"] where !Negotiation.isToken(text) { throw .notAToken(text) }
        identity.add(kind, trackID: trackID, mids: negotiated?.sections.compactMap(\.mid) ?? [], random: &random)
        outbound.append(OutboundMedia())
        return identity.media.count - 1
    }

    /// Stops a media, or begins it again: at once, as far as the descriptions allow, and in the next description, which
    /// says `inactive` or `sendonly`. Stopping says goodbye for the source; a picture begins again with a key frame,
    /// which is asked for. An unknown index does nothing.
    public mutating func setSending(_ isSending: Bool, media: Int, now: Instant) {
        guard progress != .ended, outbound.indices.contains(media) else { return }
        outbound[media].isWanted = isSending
        applySending(media: media, now: now)
        advance(now: now)
    }

    /// Whether a media is sent: the newest descriptions agree on it, and it was not stopped since.
    public func isSending(media: Int) -> Bool {
        outbound.indices.contains(media) && outbound[media].isActive
    }

    /// Whether the newest descriptions have this media sent, be it stopped or not.
    public func isAgreed(media: Int) -> Bool {
        negotiatedMedia(media)?.direction.sends == true
    }

    /// What the peer asks of whoever sends it sound in the section of this media; nil where it isn't sound, or was not
    /// agreed on.
    public func opusParameters(media: Int) -> OpusParameters? {
        negotiatedMedia(media)?.opus
    }

    /// What the peer asks of one media; no limits before its description is known, or for an unknown index.
    public func mediaLimits(media: Int) -> SendingLimits {
        negotiatedMedia(media).map { SendingLimits($0) } ?? SendingLimits()
    }

    /// What the peer asks of all pictures that are sent; no limits before its description is known.
    public var sendingLimits: SendingLimits {
        var limits = SendingLimits()
        for index in outbound.indices where outbound[index].video?.stream.isActive == true {
            limits.narrow(by: mediaLimits(media: index))
        }
        return limits
    }

    /// What was agreed for one of this side's media.
    func negotiatedMedia(_ index: Int) -> NegotiatedMedia? {
        guard let negotiated, outbound.indices.contains(index), let section = outbound[index].section,
            negotiated.sections.indices.contains(section)
        else { return nil }
        return negotiated.sections[section].media
    }
}
