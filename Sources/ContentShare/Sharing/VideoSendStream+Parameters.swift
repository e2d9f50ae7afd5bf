internal import RTCShareMedia
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareVideoCoding

extension VideoSendStream {
    /// Creates a stream that encodes with these parameters.
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

    /// Applies these parameters from now on.
    nonisolated func apply(_ parameters: VideoEncodingParameters, defaults: VideoDefaults) {
        let settings = VideoEncoder.Settings(resolving: parameters, over: defaults.settings)
        update { $0 = settings }
    }
}
