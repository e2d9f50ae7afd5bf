internal import RTCShareSDP
package import RTCShareWireFormat

/// The limits that the peer's description sets for a sender.
package struct SendingLimits: Hashable, Sendable {
    /// The lowest `b=` line (RFC 8866 §5.8); nil if there is none.
    package var maximumBitrate: DataRate?
    /// `max-fs`: the maximum number of macroblocks, 16 by 16 pixels each, in a frame (RFC 7741 §6.1).
    package var maximumMacroblocks: Int?
    /// `max-fr`: the maximum frame rate in frames per second (RFC 7741 §6.1).
    package var maximumFramesPerSecond: Double?
    /// Whether frames can be sent rotated, with their orientation in a header extension (3GPP TS 26.114 §7.4.5).
    /// Otherwise they must be rotated before they are encoded.
    package var acceptsOrientation = true

    /// The accepted values, from a video phone's (128 by 96 pixels) to the maximum of a VP8 frame.
    private static let macroblocks = 48...(1 << 20)
    private static let framesPerSecond = 0.1...1000

    /// Creates no limits.
    package init() {}
}

extension SendingLimits {
    init(_ media: NegotiatedMedia) {
        maximumBitrate = media.maximumRate
        acceptsOrientation = media.extensionIDs[.videoOrientation] != nil
        // A value that no encoder can comply with, or that none can exceed, is not a limit.
        maximumMacroblocks = media.codecParameters?["max-fs"].flatMap { Int($0) }
            .flatMap { Self.macroblocks.contains($0) ? $0 : nil }
        maximumFramesPerSecond = media.codecParameters?["max-fr"].flatMap { Double($0) }
            .flatMap { Self.framesPerSecond.contains($0) ? $0 : nil }
    }
}
