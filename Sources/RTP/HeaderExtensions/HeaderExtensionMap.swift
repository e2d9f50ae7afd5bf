/// A header extension that this implementation reads and writes.
package enum HeaderExtensionKind: UInt8, CaseIterable, Sendable {
    /// The media identification of RFC 9143 §15: which m-line a packet belongs to.
    case mediaIdentification
    /// When the packet left its sender, 24 bits.
    case absoluteSendTime
    /// The transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    case transportSequenceNumber
    /// Coordination of video orientation (3GPP TS 26.114 §7.4.5).
    case videoOrientation
    /// How long a receiver may keep frames before it shows them.
    case playoutDelay
    /// Whether the video is a camera's or a screen's.
    case videoContentType
    /// How loud the sound of a packet is (RFC 6464).
    case audioLevel

    /// The URI that `a=extmap` negotiates.
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
        }
    }

    /// All kinds, in the order that they are written in; held once, because `allCases` may make an array at each call.
    static let all = allCases

    /// The kind with this URI; nil for one that is not known here.
    package init?(uri: some StringProtocol) {
        guard let kind = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
        self = kind
    }
}

/// Which id stands for which header extension, as SDP negotiated it (RFC 8285 §5).
///
/// An id is 1 to 14, or up to 255 where the two-byte form is in use; 15 is never assigned (RFC 8285 §4.2).
package struct HeaderExtensionMap: Hashable, Sendable {
    /// One byte for each kind, zero for a kind that is not in use: a lookup neither hashes nor allocates.
    private var ids: UInt64 = 0

    /// A map with nothing in use.
    package init() {}

    /// The id of a kind; nil where it is not in use. Setting an id outside 1 to 255, or 15, takes the kind out of use.
    package subscript(kind: HeaderExtensionKind) -> UInt8? {
        get {
            let id = UInt8(truncatingIfNeeded: ids >> shift(kind))
            return id == 0 ? nil : id
        }
        set {
            let id = newValue == 15 ? 0 : newValue ?? 0
            ids = ids & ~(0xFF << shift(kind)) | UInt64(id) << shift(kind)
        }
    }

    /// The kind that an id stands for; nil for an id that was not negotiated.
    package func kind(of id: UInt8) -> HeaderExtensionKind? {
        guard id != 0 else { return nil }
        for kind in HeaderExtensionKind.all where self[kind] == id { return kind }
        return nil
    }

    private func shift(_ kind: HeaderExtensionKind) -> UInt64 { UInt64(kind.rawValue) * 8 }
}
