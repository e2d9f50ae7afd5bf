/// The counts of played and concealed samples, by W3C webrtc-stats (RTCInboundRtpStreamStats). Samples are those of one
/// channel at 48 kHz.
package struct JitterBufferStatistics: Encodable, Sendable, Hashable {
    /// The number of played samples: received, recovered and concealed.
    package var totalSamplesReceived = 0
    /// The number of samples that were synthesized because theirs were lost, came too late, or were never sent.
    package var concealedSamples = 0
    /// The part of `concealedSamples` that is silence or background noise: the sender paused, or nothing arrived for
    /// long.
    package var silentConcealedSamples = 0
    /// The number of concealments of audio that was sent. Consecutive concealed samples count once.
    package var concealmentEvents = 0
    /// The number of samples that were inserted to slow down playout.
    package var insertedSamplesForDeceleration = 0
    /// The number of samples that were removed to speed up playout.
    package var removedSamplesForAcceleration = 0
    /// The total time of the received samples between the arrival of their packets and their playout.
    package var jitterBufferDelay: Duration = .zero
    /// Like `jitterBufferDelay`, but with the target delay for the jitter at that time.
    package var jitterBufferTargetDelay: Duration = .zero
    /// The number of received samples that were played, the divisor of both delays.
    package var jitterBufferEmittedCount = 0
    /// The number of packets that came too late or too early to be played. Duplicates are not counted.
    package var packetsDiscarded = 0
    /// The number of packets that repeat the audio of the one before (in-band FEC).
    package var fecPacketsReceived = 0

    /// The members of reports.
    private enum CodingKeys: CodingKey {
        case totalSamplesReceived, concealedSamples, silentConcealedSamples, concealmentEvents
        case jitterBufferDelay, jitterBufferEmittedCount, packetsDiscarded, fecPacketsReceived
    }

    /// Creates counts of zero.
    package init() {}
}
