/// A frame of encoded audio, one Opus packet (RFC 7587 §4.2), which all sending peer connections share.
///
/// Values that differ between peers (source, sequence numbers, timestamp offset) are not in it.
package final class EncodedAudioFrame: Sendable {
    /// The Opus packet.
    package let payload: [UInt8]
    /// The number of samples at 48 kHz from the encoder's start to the first sample of this frame. Frames are
    /// contiguous, except for silence that is not sent.
    package let mediaTime: UInt64
    /// The time at which the first sample was captured, since the start of the monotonic clock.
    package let captureTime: Duration
    /// The number of samples in each channel, at 48 kHz.
    package let sampleCount: Int
    /// Whether this is the first frame after silence that was not sent. Its packet has the marker bit (RFC 3551 §4.1).
    package let startsTalkspurt: Bool
    /// The audio level; nil if it was not measured.
    package let level: AudioLevel?

    package init(
        payload: [UInt8], mediaTime: UInt64, captureTime: Duration, sampleCount: Int, startsTalkspurt: Bool = false,
        level: AudioLevel? = nil
    ) {
        self.payload = payload
        self.mediaTime = mediaTime
        self.captureTime = captureTime
        self.sampleCount = sampleCount
        self.startsTalkspurt = startsTalkspurt
        self.level = level
    }

    /// Returns the RTP timestamp of the first sample for a peer whose clock is at `offset` at the encoder's start.
    package func timestamp(offset: RTPTimestamp) -> RTPTimestamp {
        RTPTimestamp(offset.rawValue &+ UInt32(truncatingIfNeeded: mediaTime))
    }

    /// The rate of Opus' RTP clock in ticks per second, whatever the sampling rate is (RFC 7587 §4.1).
    package static let clockRate = 48_000
}
