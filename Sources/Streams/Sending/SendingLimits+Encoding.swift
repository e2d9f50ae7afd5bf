internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The effect of a peer's limits on an encoding.
extension SendingLimits {
    /// The minimum useful bitrate of video.
    static let leastBitrate = DataRate.kilobitsPerSecond(30)
    /// The minimum frame rate and size to which one peer's limits reduce an encoding with several viewers: the minimum
    /// for a screen.
    private static let leastFramesPerSecond = 5.0
    private static let leastMacroblocks = PixelSize(width: 320, height: 180).macroblocks

    /// Returns the share of the wanted encoding that the peer permits, up to 1: the smallest of its shares of the
    /// bitrate, of the frame rate and of a frame's side.
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

    /// Limits an encoding to these limits, but not below the minimum if it has other viewers.
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
        // A viewer that does not support the orientation must receive upright frames.
        if !acceptsOrientation { settings.turnsPictures = true }
    }

    /// Applies the limits of a layer of a simulcast; the best one has none. Without parameters, the further layers of a
    /// screen stay sharp, with fewer frames, and those of motion stay smooth, with fewer pixels.
    mutating func limit(
        to layer: SimulcastLayer, of wanted: VideoEncoder.Settings, isMotion: Bool, _ parameters: VideoLayerParameters?
    ) {
        guard layer.index > 0 else { return }
        limitBitrate(
            to: parameters?.maxBitrate ?? max(layer.maximumBitrate(of: wanted.bitrate), Self.leastBitrate))
        let usualRate = layer.index == 1 ? 10.0 : Self.leastFramesPerSecond
        guard let rate = parameters?.maxFramerate ?? (isMotion ? nil : usualRate) else { return }
        maximumFramesPerSecond = min(maximumFramesPerSecond ?? rate, rate)
    }
}
