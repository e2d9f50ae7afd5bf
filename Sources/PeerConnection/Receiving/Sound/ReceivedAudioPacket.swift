package import RTCShareRTP
package import RTCShareWireFormat

/// A received audio packet. The packets are in order of arrival: a jitter buffer reorders them and conceals losses.
package struct ReceivedAudioPacket: Hashable, Sendable {
    /// The Opus packet, which complies with RFC 6716 §3.4.
    package let payload: [UInt8]
    /// The sequence number without wraps. If the sender restarts, the numbers continue after the newest one.
    package let sequenceNumber: Int64
    /// The media clock at the first sample, at 48 kHz, without wraps. If the sender restarts or resets its clock, the
    /// timestamps continue according to the arrival times.
    package let timestamp: Int64
    /// The number of samples in each channel, at 48 kHz.
    package let sampleCount: Int
    /// The time of arrival.
    package let arrival: Instant
    /// The capture time of the first sample, since 1 January 1970 on the sender's wallclock; nil before a sender
    /// report.
    package let captureTime: Duration?
    /// The audio level according to the sender.
    package let level: AudioLevel?
    /// Whether it is the first packet after silence that was not sent (RFC 3551 §4.1).
    package let marker: Bool
}
