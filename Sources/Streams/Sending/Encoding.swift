internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareVideoCoding

/// One encoding of a track: an encoder with its settings (W3C's `RTCRtpEncodingParameters`), and the numbers of its
/// frames.
struct Encoding {
    let encoder: VideoEncoder
    /// The number of the next frame.
    private var number = FrameNumber(.random(in: 0...UInt16.max))

    init(_ encoder: VideoEncoder) {
        self.encoder = encoder
    }

    /// Returns the next frame, divided into packets. The index distinguishes this encoding and its frames from all
    /// others of the stream.
    mutating func packets(of frame: EncodedVideoFrame, index: Int) -> PacketizedFrame {
        PacketizedFrame(
            frame.data, format: frame.format, number: number.takeNext(), isKeyFrame: frame.isKeyFrame,
            captureTime: frame.timestamp, width: frame.size.width, height: frame.size.height,
            quarterTurns: frame.rotation.rawValue / 90, stream: index)
    }
}
