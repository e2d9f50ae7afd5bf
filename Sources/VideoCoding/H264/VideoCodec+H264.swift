internal import RTCShareMedia
internal import RTCShareRTP

extension VideoCodec {
    /// H.264 by OpenH264, which is looked for when it is needed.
    package static let h264 = VideoCodec(
        format: .h264, unavailability: { H264Coder.unavailability }, relativeSize: 1.1, relativeEffort: 1.5,
        sizeLimits: .init(
            longestSide: H264Coder.Configuration.longestSide,
            maximumMacroblocks: H264Coder.Configuration.mostMacroblocks),
        implementation: ("OpenH264", "OpenH264")
    ) { (size, settings) throws(VideoCodingError) in
        try ScreenEncoder<H264FrameCoder>(size: size, hint: settings.hint ?? .detail)
    } makeDecoder: { () throws(VideoCodingError) in
        try H264Decoder()
    }
}
