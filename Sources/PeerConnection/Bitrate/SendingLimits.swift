internal import RTCShareRTP
internal import RTCShareSDP
package import RTCShareWireFormat

/// The limits that the peer's description sets for a sender.
package struct SendingLimits: Hashable, Sendable {
    /// The lowest of the section's `b=` lines (RFC 8866 §5.8), which limit all layers of a simulcast together, and of the
    /// layer's own limit; nil if there is none.
    package var maximumBitrate: DataRate?
    /// The maximum number of macroblocks, 16 by 16 pixels each, in a frame.
    package var maximumMacroblocks: Int?
    /// The maximum frame rate in frames per second.
    package var maximumFramesPerSecond: Double?
    /// Whether frames can be sent rotated, with their orientation in a header extension (3GPP TS 26.114 §7.4.5).
    /// Otherwise they must be rotated before they are encoded.
    package var acceptsOrientation = true

    /// Creates no limits.
    package init() {}
}

extension SendingLimits {
    /// Lowers the maximum bitrate to another one; nil changes nothing.
    package mutating func limitBitrate(to rate: DataRate?) {
        maximumBitrate = [maximumBitrate, rate].compactMap(\.self).min()
    }

    init(_ media: NegotiatedMedia, _ pictures: PictureLimits?) {
        maximumBitrate = media.maximumRate
        acceptsOrientation = media.extensionIDs[.videoOrientation] != nil
        maximumMacroblocks = pictures?.maximumMacroblocks
        maximumFramesPerSecond = pictures?.maximumFramesPerSecond
    }
}
