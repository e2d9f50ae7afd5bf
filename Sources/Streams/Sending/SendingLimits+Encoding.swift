internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// What the limits of a peer's description do to an encoding.
extension SendingLimits {
    /// Below this no picture is worth sending.
    static let leastBitrate = DataRate.kilobitsPerSecond(30)
    /// No peer's limits take an encoding that is sent to several below these: what is wanted of a screen at its least.
    private static let leastFramesPerSecond = 5.0
    private static let leastMacroblocks = PixelSize(width: 320, height: 180).macroblocks

    /// How much of what is wanted the peer takes, up to 1: the least of its shares of the bits, of the frames and of a
    /// picture's sides.
    func share(of wanted: VideoEncoder.Settings) -> Double {
        var share = 1.0
        if let maximumBitrate, wanted.bitrate > .zero {
            share = min(share, Double(maximumBitrate.bitsPerSecond) / Double(wanted.bitrate.bitsPerSecond))
        }
        if let maximumFramesPerSecond { share = min(share, maximumFramesPerSecond / wanted.framesPerSecond) }
        if let maximumMacroblocks {
            let most = max(wanted.maximumSize.macroblocks, 1)
            share = min(share, (Double(maximumMacroblocks) / Double(most)).squareRoot())
        }
        return share
    }

    /// Has an encoding keep to them; where it is sent to others too, down to the floors.
    func apply(to settings: inout VideoEncoder.Settings, isShared: Bool) {
        if let maximumBitrate {
            let rate = isShared ? max(maximumBitrate, Self.leastBitrate) : maximumBitrate
            settings.bitrate = min(settings.bitrate, rate)
        }
        if let maximumFramesPerSecond {
            let rate = isShared ? max(maximumFramesPerSecond, Self.leastFramesPerSecond) : maximumFramesPerSecond
            settings.framesPerSecond = min(settings.framesPerSecond, rate)
        }
        if let maximumMacroblocks {
            let blocks = isShared ? max(maximumMacroblocks, Self.leastMacroblocks) : maximumMacroblocks
            settings.maximumSize = settings.maximumSize.fitted(withinMacroblocks: blocks)
        }
        // A viewer that was not told how the picture stands has to be given it upright.
        if !acceptsOrientation { settings.turnsPictures = true }
    }
}
