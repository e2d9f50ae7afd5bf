internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Where a stream records what it encodes, beside sending it: a track of a recording.
final class TrackRecorder: Sendable {
    private let take: @Sendable ([UInt8], Int, MediaTimes) -> Void

    /// What records a picture.
    init(picture take: @escaping @Sendable ([UInt8], Int, MediaTimes) -> Void) {
        self.take = take
    }

    /// What records a sound.
    init(sound take: @escaping @Sendable ([UInt8], MediaTimes) -> Void) {
        self.take = { packet, _, times in take(packet, times) }
    }

    /// Takes a frame, in the order in which they were encoded.
    func receive(_ frame: PacketizedFrame) {
        receive(
            frame.bytes, quarterTurns: frame.quarterTurns, media: frame.captureTime, capture: frame.captureTime)
    }

    /// Takes a packet of sound.
    func receive(_ frame: EncodedAudioFrame) {
        let media = Duration.seconds(1) * frame.mediaTime / EncodedAudioFrame.clockRate
        receive(frame.payload, media: media, capture: frame.captureTime)
    }

    private func receive(_ data: [UInt8], quarterTurns: Int = 0, media: Duration, capture: Duration) {
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        take(data, quarterTurns, MediaTimes(media: media, capture: capture, arrival: now))
    }
}
