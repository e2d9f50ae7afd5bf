internal import RTCShareMedia
internal import RTCShareRTP

extension VideoCodec {
    /// AV1 by libaom and dav1d, which are looked for when they are needed.
    package static let av1 = VideoCodec(
        format: .av1, unavailability: { AV1Coder.unavailability ?? AV1Decoder.unavailability }, relativeSize: 0.6,
        relativeEffort: 4, implementation: ("libaom", "dav1d")
    ) { (size, settings) throws(VideoCodingError) in
        try ScreenEncoder<AV1Coder>(size: size, hint: settings.hint ?? .detail)
    } makeDecoder: { () throws(VideoCodingError) in
        try AV1Decoder()
    }
}
