package import RTCShareWireFormat

/// The times between pictures as a viewer gets them, and which of them were freezes and pauses (W3C webrtc-stats
/// `RTCInboundRtpStreamStats`). A gap is known at the picture that ends it.
package struct InterFrameDelays: Encodable, Sendable {
    /// `freezeCount`.
    package private(set) var freezeCount = 0
    /// `totalFreezesDuration`.
    package private(set) var totalFreezesDuration = Duration.zero
    /// `pauseCount`.
    package private(set) var pauseCount = 0
    /// `totalPausesDuration`.
    package private(set) var totalPausesDuration = Duration.zero
    /// `totalInterFrameDelay`.
    package private(set) var total = Duration.zero
    /// `totalSquaredInterFrameDelay`, in square seconds.
    package private(set) var totalSquared = 0.0

    /// Of the delays that were no pauses.
    private var threshold = FreezeThreshold()
    private var last: Instant?

    /// Fewer have no mean worth the name.
    private static let leastDelays = 5
    /// What is longer is no freeze any more: nothing was to be shown.
    private static let shortestPause = Duration.seconds(5)

    private enum CodingKeys: String, CodingKey {
        case freezeCount, totalFreezesDuration, pauseCount, totalPausesDuration
        case total = "totalInterFrameDelay"
        case totalSquared = "totalSquaredInterFrameDelay"
    }

    /// Without a picture.
    package init() {}

    /// No pictures are wanted for now: the time until the next one is no delay.
    package mutating func interrupt() { last = nil }

    /// Counts a picture.
    package mutating func pictureWasShown(at now: Instant) {
        defer { last = now }
        guard let last, now > last else { return }
        let delay = now - last
        total += delay
        let seconds = delay / .seconds(1)
        totalSquared += seconds * seconds
        guard delay <= Self.shortestPause else {
            pauseCount += 1
            totalPausesDuration += delay
            return
        }
        if threshold.count >= Self.leastDelays, delay >= threshold.value {
            freezeCount += 1
            totalFreezesDuration += delay
        }
        threshold.add(delay)
    }
}
