internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareVideoCoding

/// One encoding of a track: an encoder with its settings (W3C's `RTCRtpEncodingParameters`), and the numbers of its
/// frames.
struct Encoding {
    let encoder: VideoEncoder
    /// The number of the next frame.
    private var number = FrameNumber(.random(in: 0...UInt16.max))
    /// The settings that the encoder has, and whether its frames are queued; nil before the first.
    private var applied: (settings: VideoEncoder.Settings, isQueueFull: Bool)?

    init(_ encoder: VideoEncoder) {
        self.encoder = encoder
    }

    /// Applies settings and the state of the queue if they are new: each message wakes the encoder's thread.
    mutating func apply(_ settings: VideoEncoder.Settings, isQueueFull: Bool) {
        if applied?.settings != settings { encoder.apply(settings) }
        if applied?.isQueueFull != isQueueFull { encoder.queueDidFill(isQueueFull) }
        applied = (settings, isQueueFull)
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
