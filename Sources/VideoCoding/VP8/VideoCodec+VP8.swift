internal import RTCShareMedia
internal import RTCShareRTP

extension VideoCodec {
    /// VP8 by libvpx and by this library's own frames (RFC 6386, RFC 7741).
    package static let vp8 = vp8(speed: nil, tuning: nil)

    /// VP8 with another speed (libvpx's cpu-used, -16 to -1) or tuning than those that suit the content.
    package static func vp8(speed: Int?, tuning: VP8Encoder.Tuning?) -> VideoCodec {
        VideoCodec(
            format: .vp8, unavailability: { nil }, relativeSize: 1, relativeEffort: 1, hasFasterSpeed: true,
            implementation: ("libvpx", "libvpx")
        ) { (size, settings) throws(VideoCodingError) in
            let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: settings.bitrate))
            encoder.fixed = (speed, tuning)
            return encoder
        } makeDecoder: { () throws(VideoCodingError) in
            try VP8Decoder()
        }
    }
}
