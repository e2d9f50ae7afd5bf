/// The counts of a video decoder: its members of W3C `RTCInboundRtpStreamStats`.
package struct VideoDecoderStatistics: Encodable, Sendable {
    /// The number of decoded frames.
    package var framesDecoded = 0
    /// The number of decoded key frames.
    package var keyFramesDecoded = 0
    /// The total time of decoding.
    package var totalDecodeTime = Duration.zero
    /// The sum of the frames' quantizers; nil if a decoder did not report one.
    package var qpSum: Int? = 0
    /// The width of the newest frame.
    package var frameWidth: Int?
    /// The height of the newest frame.
    package var frameHeight: Int?
    /// The delays between frames.
    package var delays = InterFrameDelays()
    /// The name of the decoder's library.
    package var decoderImplementation: String?

    /// Creates counts of zero.
    package init() {}
}
