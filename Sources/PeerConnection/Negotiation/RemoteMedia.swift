internal import RTCShareSDP

/// A media section that the peer sends, as the descriptions have it.
package struct RemoteMedia: Hashable, Sendable {
    /// Whether it is pictures; else it is sound.
    package let isVideo: Bool
    /// The media stream's id (`a=msid`, RFC 8830).
    package let streamID: String?
    /// The track's id.
    package let trackID: String?
    /// Whether it is what somebody shares: `a=content:slides` (RFC 4796), or a stream id that ends in `#content`.
    package let isContent: Bool
    /// Whether the peer sends: a section that was accepted may pause (`a=inactive`), and may end.
    package let isActive: Bool
    /// The subgroup that the peer shares it to, by its reports (RFC 3550 §6.5.8); nil for everybody.
    package var subgroup: String?
    /// How the peer describes its sound; nil for pictures.
    package let opus: OpusParameters?
}

extension RemoteMedia {
    init(_ inbound: InboundMedia) {
        let negotiated = inbound.negotiated
        let stream = negotiated.remote.streams.first
        self.init(
            isVideo: !inbound.isAudio, streamID: stream?.streamID, trackID: stream?.trackID,
            isContent: negotiated.remote.isSlides || stream?.streamID.hasSuffix("#content") == true,
            isActive: inbound.isActive, subgroup: inbound.subgroup, opus: negotiated.opus)
    }
}

extension PeerConnection {
    /// What the peer has sent or sends, in the order of receivers: sections are added, and none is removed. Only when there
    /// are very many does another take the place of one that has long ended.
    package var remoteMedia: [RemoteMedia] { receivers.media.map { RemoteMedia($0) } }
}
