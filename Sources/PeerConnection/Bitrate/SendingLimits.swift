internal import RTCShareSDP
package import RTCShareWireFormat

/// What the peer's description asks a sender to keep to.
package struct SendingLimits: Hashable, Sendable {
    /// The lowest `b=` line (RFC 8866 §5.8); nil where there is none.
    package var maximumBitrate: DataRate?
    /// `max-fs`: the most macroblocks, 16 by 16 pixels each, in a frame (RFC 7741 §6.1).
    package var maximumMacroblocks: Int?
    /// `max-fr`: the most frames a second (RFC 7741 §6.1).
    package var maximumFramesPerSecond: Double?
    /// Whether a picture may be sent lying on its side, with its orientation beside it (3GPP TS 26.114 §7.4.5); else it
    /// must be turned before it is encoded.
    package var acceptsOrientation = true

    /// What is taken for a limit: from what a picture phone shows (128 by 96) to what a VP8 frame can hold.
    private static let macroblocks = 48...(1 << 20)
    private static let framesPerSecond = 0.1...1000

    /// No limits.
    package init() {}
}

extension SendingLimits {
    init(_ media: NegotiatedMedia) {
        maximumBitrate = media.maximumRate
        acceptsOrientation = media.extensionIDs[.videoOrientation] != nil
        // A value that no encoder could keep to, or that none could exceed, is no limit.
        maximumMacroblocks = media.codecParameters?["max-fs"].flatMap { Int($0) }
            .flatMap { Self.macroblocks.contains($0) ? $0 : nil }
        maximumFramesPerSecond = media.codecParameters?["max-fr"].flatMap { Double($0) }
            .flatMap { Self.framesPerSecond.contains($0) ? $0 : nil }
    }
}
