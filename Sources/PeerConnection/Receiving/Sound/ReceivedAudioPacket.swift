package import RTCShareRTP
package import RTCShareWireFormat

/// A packet of received sound, in the order of arrival: a jitter buffer orders packets and fills what is missing.
package struct ReceivedAudioPacket: Hashable, Sendable {
    /// The Opus packet; it keeps the rules of RFC 6716 §3.4.
    package let payload: [UInt8]
    /// The place in the stream, without wraps. A sender that begins anew goes on with the number after the newest.
    package let sequenceNumber: Int64
    /// The media clock at the first sample, at 48 kHz, without wraps. A sender that begins anew, or sets its clock, goes
    /// on later by what the arrivals differ by.
    package let timestamp: Int64
    /// Samples in each channel, at 48 kHz.
    package let sampleCount: Int
    /// When it arrived.
    package let arrival: Instant
    /// When the first sample was taken, since 1 January 1970 on the sender's wallclock; nil before a sender report.
    package let captureTime: Duration?
    /// How loud the sender says it is.
    package let level: AudioLevel?
    /// Whether it is the first one after silence that was not sent (RFC 3551 §4.1).
    package let marker: Bool
}
