internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A track of a recording, to which a stream passes its encoded media.
final class TrackRecorder: Sendable {
    private let take: @Sendable ([UInt8], Int, MediaTimes) -> Void

    /// Creates a recorder of video.
    init(picture take: @escaping @Sendable ([UInt8], Int, MediaTimes) -> Void) {
        self.take = take
    }

    /// Creates a recorder of audio.
    init(sound take: @escaping @Sendable ([UInt8], MediaTimes) -> Void) {
        self.take = { packet, _, times in take(packet, times) }
    }

    /// Records a frame, in encoding order.
    func receive(_ frame: PacketizedFrame) {
        receive(
            frame.bytes, quarterTurns: frame.quarterTurns, media: frame.captureTime, capture: frame.captureTime)
    }

    /// Records an audio packet.
    func receive(_ frame: EncodedAudioFrame) {
        let media = Duration.seconds(1) * frame.mediaTime / EncodedAudioFrame.clockRate
        receive(frame.payload, media: media, capture: frame.captureTime)
    }

    private func receive(_ data: [UInt8], quarterTurns: Int = 0, media: Duration, capture: Duration) {
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        take(data, quarterTurns, MediaTimes(media: media, capture: capture, arrival: now))
    }
}
