internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareVideoCoding

/// One encoding of a track: an encoder with its settings, as W3C's `RTCRtpEncodingParameters` says them.
final class Encoding: Sendable {
    /// Tells it and its frames from all others of the pipeline; 0 is the first.
    let index: Int
    let encoder: VideoEncoder

    /// Begins an encoder's thread. The closures are called on it: `send` with each frame, with whether it is blurred and will
    /// be sharpened, and with the source that it shows.
    init(
        index: Int, settings: VideoEncoder.Settings,
        send: @escaping @Sendable (_ frame: PacketizedFrame, _ isBlurred: Bool, _ source: (any VideoSource)?) -> Void,
        onEvent: @escaping @Sendable (VideoEncoder.Event) -> Void
    ) throws(VideoCodingError) {
        var random = SystemRandomNumberGenerator()
        let packetizer = Packetizer(stream: index, counters: VP8PictureCounters(using: &random))
        self.index = index
        encoder = try VideoEncoder(
            settings: settings,
            onFrame: { frame, source in send(packetizer.packets(of: frame), frame.isUnfinished, source) },
            onEvent: onEvent)
    }
}

/// Cuts encoded frames into packets. Called on the encoder's thread only.
private final class Packetizer: Sendable {
    private let stream: Int
    private let counters: Locked<VP8PictureCounters>

    init(stream: Int, counters: VP8PictureCounters) {
        self.stream = stream
        self.counters = Locked(counters)
    }

    func packets(of frame: EncodedVideoFrame) -> PacketizedFrame {
        let descriptor = counters.withLock { $0.next() }
        return PacketizedFrame(
            vp8: frame.data, descriptor: descriptor, isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height, quarterTurns: frame.rotation.rawValue / 90,
            stream: stream, maximumPayloadByteCount: PacketizedFrame.maximumPayloadByteCount)
    }
}
