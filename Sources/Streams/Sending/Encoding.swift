internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareVideoCoding

/// One encoding of a track: an encoder with its settings (W3C's `RTCRtpEncodingParameters`), and the counters of its
/// frames.
struct Encoding {
    let encoder: VideoEncoder
    private var counters: VP8PictureCounters

    init(_ encoder: VideoEncoder) {
        self.encoder = encoder
        var random = SystemRandomNumberGenerator()
        counters = VP8PictureCounters(using: &random)
    }

    /// Returns the next frame, divided into packets. The index distinguishes this encoding and its frames from all
    /// others of the stream.
    mutating func packets(of frame: EncodedVideoFrame, index: Int) -> PacketizedFrame {
        PacketizedFrame(
            vp8: frame.data, descriptor: counters.next(), isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height, quarterTurns: frame.rotation.rawValue / 90,
            stream: index, maximumPayloadByteCount: PacketizedFrame.maximumPayloadByteCount)
    }
}
