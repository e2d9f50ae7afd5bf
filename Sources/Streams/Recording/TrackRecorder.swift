internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A track of a recording, to which a stream passes its encoded media: frames or audio packets.
final class TrackRecorder<Media>: Sendable {
    private let take: @Sendable (Media, MediaTimes) -> Void

    /// Creates a recorder that passes media to a function of a ``RecordingSource``.
    init(_ take: @escaping @Sendable (Media, MediaTimes) -> Void) {
        self.take = take
    }

    private func receive(_ media: Media, at time: Duration, capture: Duration) {
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        take(media, MediaTimes(media: time, capture: capture, arrival: now))
    }
}

extension TrackRecorder<RecordedFrame> {
    /// Records a frame, in encoding order.
    func receive(_ frame: PacketizedFrame) {
        receive(
            RecordedFrame(data: frame.bytes, format: frame.format, quarterTurns: frame.quarterTurns),
            at: frame.captureTime, capture: frame.captureTime)
    }
}

extension TrackRecorder<[UInt8]> {
    /// Records an audio packet.
    func receive(_ frame: EncodedAudioFrame) {
        let media = Duration.seconds(1) * frame.mediaTime / EncodedAudioFrame.clockRate
        receive(frame.payload, at: media, capture: frame.captureTime)
    }
}
