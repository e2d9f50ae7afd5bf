/// A header extension that this project reads and writes.
package enum HeaderExtensionKind: UInt8, CaseIterable, Sendable {
    /// The media identification (MID, RFC 9143 §15) of the packet's m-line.
    case mediaIdentification
    /// The time at which the packet left its sender, 24 bits.
    case absoluteSendTime
    /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    case transportSequenceNumber
    /// The video orientation (CVO, 3GPP TS 26.114 §7.4.5).
    case videoOrientation
    /// The minimum and maximum delay before a receiver shows a frame.
    case playoutDelay
    /// The content type of the video: a camera's or a screen's.
    case videoContentType
    /// The audio level of a packet (RFC 6464).
    case audioLevel
    /// The dependency descriptor of a video frame (AV1 RTP, appendix A).
    case dependencyDescriptor
    /// The id of the packet's RTP stream among those of its m-line (RtpStreamId, RFC 8852 §3.1).
    case streamIdentification
    /// The id of the RTP stream whose packets are retransmitted (RepairedRtpStreamId, RFC 8852 §3.2).
    case repairedStreamIdentification

    /// The URI in `a=extmap`.
    package var uri: String {
        switch self {
        case .mediaIdentification: "urn:ietf:params:rtp-hdrext:sdes:mid"
        case .transportSequenceNumber:
            "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
        case .videoOrientation: "urn:3gpp:video-orientation"
        case .playoutDelay: "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
        case .videoContentType: "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type"
        case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
        case .dependencyDescriptor:
            "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
        case .streamIdentification: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
        case .repairedStreamIdentification: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
        }
    }

    /// All kinds in the order in which they are written. They are stored because `allCases` can allocate an array at
    /// each call.
    static let all = allCases

    /// Creates the kind with this URI; nil for an unknown URI.
    package init?(uri: some StringProtocol) {
        guard let kind = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
        self = kind
    }
}

/// The local ids of header extensions, as negotiated in SDP (RFC 8285 §5).
///
/// An id is 1 to 14, or up to 255 if the two-byte form is used. 15 is never assigned (RFC 8285 §4.2).
package struct HeaderExtensionMap: Hashable, Sendable {
    /// One byte for each kind, zero for a kind that is not in use, so that a lookup neither hashes nor allocates.
    private var ids: UInt128 = 0

    /// Creates a map without ids.
    package init() {}

    /// The id of a kind; nil if the kind is not in use. An id outside 1 to 255, or 15, removes the kind from use.
    package subscript(kind: HeaderExtensionKind) -> UInt8? {
        get {
            let id = UInt8(truncatingIfNeeded: ids >> shift(kind))
            return id == 0 ? nil : id
        }
        set {
            let id = newValue == 15 ? 0 : newValue ?? 0
            ids = ids & ~(0xFF << shift(kind)) | UInt128(id) << shift(kind)
        }
    }

    /// Returns the kind with this id; nil for an id that was not negotiated.
    package func kind(of id: UInt8) -> HeaderExtensionKind? {
        guard id != 0 else { return nil }
        for kind in HeaderExtensionKind.all where self[kind] == id { return kind }
        return nil
    }

    private func shift(_ kind: HeaderExtensionKind) -> UInt128 { UInt128(kind.rawValue) * 8 }
}
