internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// How a kind of video is encoded where its parameters are nil, and how it is treated beside others.
struct VideoDefaults {
    let settings: VideoEncoder.Settings
    let priority: BitratePriority

    var bitrate: DataRate { settings.bitrate }

    /// A whole screen, at a rate at which its text is sharp.
    static let content = VideoDefaults(
        settings: .init(bitrate: .kilobitsPerSecond(2500), maximumSize: VideoEncodingParameters.usualSize),
        priority: .medium)
    /// A face.
    static let camera = VideoDefaults(
        settings: .init(
            bitrate: .kilobitsPerSecond(800), maximumSize: PixelSize(width: 1280, height: 720), assumedHint: .motion),
        priority: .low)
}

extension VideoSendStream {
    /// A stream that encodes as the parameters say.
    init(
        _ parameters: VideoEncodingParameters, defaults: VideoDefaults, home: HomeLoop
    ) throws(ContentShareError) {
        do {
            try self.init(
                settings: VideoEncoder.Settings(resolving: parameters, over: defaults.settings),
                priority: defaults.priority, home: home)
        } catch {
            throw .encoder("\(error)")
        }
    }

    /// Encodes as the parameters say from now on.
    nonisolated func apply(_ parameters: VideoEncodingParameters, defaults: VideoDefaults) {
        let settings = VideoEncoder.Settings(resolving: parameters, over: defaults.settings)
        update { $0 = settings }
    }
}
