internal import RTCShareSDP

/// A media section that the peer sends, according to the descriptions.
package struct RemoteMedia: Hashable, Sendable {
    /// Whether the media is video; otherwise it is audio.
    package let isVideo: Bool
    /// The media stream's id (`a=msid`, RFC 8830).
    package let streamID: String?
    /// The track's id.
    package let trackID: String?
    /// Whether the media is a screen share: `a=content:slides` (RFC 4796), or a stream id that ends in `#content`.
    package let isContent: Bool
    /// Whether the peer sends: an accepted section can be inactive (`a=inactive`), and can end.
    package let isActive: Bool
    /// The subgroup to which the peer shares it, according to its reports (RFC 3550 §6.5.8); nil for all participants.
    package var subgroup: String?
    /// The peer's parameters of its audio; nil for video.
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
    /// The media that the peer sends or has sent, in the order of receivers. Entries are added, and none is removed. If
    /// there are very many, a new one replaces one that ended long ago.
    package var remoteMedia: [RemoteMedia] { receivers.media.map { RemoteMedia($0) } }
}
