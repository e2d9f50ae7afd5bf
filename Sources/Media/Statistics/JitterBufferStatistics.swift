/// What was played and what had to be made up, as W3C webrtc-stats counts it (RTCInboundRtpStreamStats). Samples are
/// those of one channel at 48 kHz.
package struct JitterBufferStatistics: Encodable, Sendable, Hashable {
    /// All samples played: received, recovered and made up.
    package var totalSamplesReceived = 0
    /// Samples made up because theirs were lost, came too late, or were never sent.
    package var concealedSamples = 0
    /// Those of `concealedSamples` that are silence or background noise: the sender paused, or nothing came for long.
    package var silentConcealedSamples = 0
    /// How often samples had to be made up for sound that was sent; those that follow each other are one time.
    package var concealmentEvents = 0
    /// Samples by which playing was slowed down.
    package var insertedSamplesForDeceleration = 0
    /// Samples by which playing was sped up.
    package var removedSamplesForAcceleration = 0
    /// How long each received sample waited from its packet's arrival until it was played, all together.
    package var jitterBufferDelay: Duration = .zero
    /// As `jitterBufferDelay`, but how long they were to wait for the jitter seen at that time.
    package var jitterBufferTargetDelay: Duration = .zero
    /// Received samples played: what the two delays are to be divided by.
    package var jitterBufferEmittedCount = 0
    /// Packets that came too late or too early to be played. Those that came twice are not counted.
    package var packetsDiscarded = 0
    /// Packets that repeat the sound of the one before (in-band FEC).
    package var fecPacketsReceived = 0

    /// The members of reports.
    private enum CodingKeys: CodingKey {
        case totalSamplesReceived, concealedSamples, silentConcealedSamples, concealmentEvents
        case jitterBufferDelay, jitterBufferEmittedCount, packetsDiscarded, fecPacketsReceived
    }

    /// Nothing yet.
    package init() {}
}
