package import RTCShareTransport
internal import RTCShareVideoCoding

extension Connection.Configuration {
    /// Returns the configuration with the codecs that this machine can use.
    package func withCodecs() -> Self {
        var configuration = self
        configuration.videoFormats = VideoCodec.available.flatMap(\.formats)
        return configuration
    }
}
