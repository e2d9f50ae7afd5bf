internal import RTCShareMedia
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareVideoCoding

extension VideoSendStream {
    /// Creates a stream that encodes with these parameters.
    init(
        _ parameters: VideoEncodingParameters, defaults: VideoDefaults, home: HomeLoop
    ) throws(ContentShareError) {
        let codecs = try Self.codecs(parameters)
        do {
            try self.init(
                settings: VideoEncoder.Settings(resolving: parameters, over: defaults.settings), codecs: codecs,
                priority: defaults.priority, home: home)
        } catch {
            throw .encoder("\(error)")
        }
        setLayers(parameters.layers ?? [])
    }

    /// Applies these parameters, with the ``codecs(_:)`` of them, from now on.
    nonisolated func apply(_ parameters: VideoEncodingParameters, codecs: [VideoCodec]?, defaults: VideoDefaults) {
        let settings = VideoEncoder.Settings(resolving: parameters, over: defaults.settings)
        update { $0 = settings }
        setLayers(parameters.layers ?? [])
        setCodecs(codecs)
    }

    /// Returns the codecs that the parameters name, and the others after them; nil if they name none.
    static func codecs(_ parameters: VideoEncodingParameters) throws(ContentShareError) -> [VideoCodec]? {
        do throws(VideoCodingError) {
            return try parameters.codecs.map(VideoCodec.available(preferring:))
        } catch {
            throw .encoder("\(error)")
        }
    }
}
