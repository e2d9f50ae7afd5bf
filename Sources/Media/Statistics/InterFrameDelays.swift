package import RTCShareWireFormat

/// The delays between the frames that a viewer receives, with the freezes and pauses among them (W3C webrtc-stats
/// `RTCInboundRtpStreamStats`). A gap is known at the frame that ends it.
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

    /// The threshold of the delays that were not pauses.
    private var threshold = FreezeThreshold()
    private var last: Instant?

    /// The minimum number of delays for a meaningful mean.
    private static let leastDelays = 5
    /// The gap from which on it is a pause and not a freeze: there was nothing to show.
    private static let shortestPause = Duration.seconds(5)

    private enum CodingKeys: String, CodingKey {
        case freezeCount, totalFreezesDuration, pauseCount, totalPausesDuration
        case total = "totalInterFrameDelay"
        case totalSquared = "totalSquaredInterFrameDelay"
    }

    /// Creates counts of zero.
    package init() {}

    /// Excludes the time until the next frame from the delays, because no frames are wanted for now.
    package mutating func interrupt() { last = nil }

    /// Counts a frame.
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
