internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareVideoCoding

/// One encoding of a track: an encoder with its settings (W3C's `RTCRtpEncodingParameters`), and the numbers of its
/// frames.
struct Encoding {
    let encoder: VideoEncoder
    /// The number of the next frame.
    private var number = FrameNumber(.random(in: 0...UInt16.max))
    /// The capture time of the newest frame.
    private var newestCapture: Duration?
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

    /// The minimum distance of two frames that peers take for different ones.
    private static let leastDistance = Duration.milliseconds(1)

    /// Returns the next frame, divided into packets. The index distinguishes this encoding and its frames from all
    /// others of the stream.
    ///
    /// The frame is later than `newest`, if that is given: the newest frame of the encoding that peers were sent before this
    /// one. Encoding a key frame can take so long that they were sent several later frames meanwhile.
    mutating func packets(of frame: EncodedVideoFrame, index: Int, after newest: Duration?) -> PacketizedFrame {
        let earlier = [newestCapture, newest].compactMap { $0 }.max()
        let captureTime = earlier.map { max(frame.timestamp, $0 + Self.leastDistance) } ?? frame.timestamp
        newestCapture = captureTime
        return PacketizedFrame(
            frame.data, format: frame.format, number: number.takeNext(), isKeyFrame: frame.isKeyFrame,
            captureTime: captureTime, width: frame.size.width, height: frame.size.height,
            quarterTurns: frame.rotation.rawValue / 90, stream: index)
    }
}
