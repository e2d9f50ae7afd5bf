internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareWireFormat

/// What a pipeline gives what it encodes to, beside its senders: a track of a recording.
final class TrackRecorder: Sendable {
    private let take: @Sendable ([UInt8], MediaTimes) -> Void

    init(_ take: @escaping @Sendable ([UInt8], MediaTimes) -> Void) {
        self.take = take
    }

    /// Takes a frame, in the order in which they were encoded.
    func receive(_ frame: PacketizedFrame) {
        receive(frame.bytes, media: frame.captureTime, capture: frame.captureTime)
    }

    /// Takes a packet of sound.
    func receive(_ frame: EncodedAudioFrame) {
        let media = Duration.seconds(1) * frame.mediaTime / EncodedAudioFrame.clockRate
        receive(frame.payload, media: media, capture: frame.captureTime)
    }

    private func receive(_ data: [UInt8], media: Duration, capture: Duration) {
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        take(data, MediaTimes(media: media, capture: capture, arrival: now))
    }
}
