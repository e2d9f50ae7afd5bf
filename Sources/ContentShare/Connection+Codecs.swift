package import RTCShareTransport
package import RTCShareVideoCoding
internal import RTCShareWireFormat

extension Connection.Configuration {
    /// Returns the configuration with the codecs that this machine can use.
    package func withCodecs() -> Self {
        var configuration = self
        configuration.videoFormats = VideoCodec.available.map(\.format)
        return configuration
    }
}

extension VideoCodec {
    /// The names of the codecs that this machine can use, as a choice for people.
    package static var choice: String { available.map(\.name).choice }
}
