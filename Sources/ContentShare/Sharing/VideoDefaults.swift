internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The defaults for the parameters of a kind of video, and its priority when bitrate is allocated.
struct VideoDefaults {
    let settings: VideoEncoder.Settings
    let priority: BitratePriority

    var bitrate: DataRate { settings.bitrate }

    /// The defaults for a whole screen, at a bitrate at which its text is sharp.
    static let content = VideoDefaults(
        settings: .init(bitrate: .kilobitsPerSecond(2500), maximumSize: VideoEncodingParameters.usualSize),
        priority: .medium)
    /// The defaults for a camera's video.
    static let camera = VideoDefaults(
        settings: .init(
            bitrate: .kilobitsPerSecond(800), maximumSize: PixelSize(width: 1280, height: 720), assumedHint: .motion),
        priority: .low)
}
