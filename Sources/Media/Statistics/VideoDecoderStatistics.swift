/// The counts of a video decoder: its members of W3C `RTCInboundRtpStreamStats`.
package struct VideoDecoderStatistics: Encodable, Sendable {
    /// Frames that became pictures.
    package var framesDecoded = 0
    /// Those of them that decode on their own.
    package var keyFramesDecoded = 0
    /// The time that decoding took.
    package var totalDecodeTime = Duration.zero
    /// The sum of the frames' quantizers.
    package var qpSum = 0
    /// The columns of the newest picture.
    package var frameWidth: Int?
    /// The rows of the newest picture.
    package var frameHeight: Int?
    /// The times between pictures.
    package var delays = InterFrameDelays()
    private let decoderImplementation = "libvpx"

    /// All zero.
    package init() {}
}
