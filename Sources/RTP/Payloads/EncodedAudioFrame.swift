/// A piece of encoded sound, one Opus packet (RFC 7587 §4.2), shared by every peer connection that sends it.
///
/// What differs between peers (source, sequence numbers, timestamp offset) is not here.
package final class EncodedAudioFrame: Sendable {
    /// The Opus packet.
    package let payload: [UInt8]
    /// Samples at 48 kHz from the encoder's start to the first of this frame. Frames follow each other without gaps
    /// but for silence that is not sent.
    package let mediaTime: UInt64
    /// When the first sample was taken, since the start of the monotonic clock.
    package let captureTime: Duration
    /// Samples in each channel, at 48 kHz.
    package let sampleCount: Int
    /// Whether this is the first frame after silence that was not sent: its packet carries the marker bit
    /// (RFC 3551 §4.1).
    package let startsTalkspurt: Bool
    /// How loud it is; nil where nobody measured.
    package let level: AudioLevel?

    /// A frame of these values.
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

    /// The RTP timestamp of the first sample for a peer whose clock reads `offset` at the encoder's start.
    package func timestamp(offset: RTPTimestamp) -> RTPTimestamp {
        RTPTimestamp(offset.rawValue &+ UInt32(truncatingIfNeeded: mediaTime))
    }

    /// Ticks a second of Opus' RTP clock, whatever rate the sound has (RFC 7587 §4.1).
    package static let clockRate = 48_000
}
