internal import RTCShareWireFormat

/// What the encoder of a media could use, and what it was told that it may.
struct EncoderTarget {
    /// What it could use; nil where its owner has not said.
    var demand: BitrateDemand?
    /// The target that was reported last; nil while the media is not sent.
    private(set) var reported: BitrateTarget?
    private var reportedAt: Instant?

    /// A target that differs from what was told by no more than this share is not told.
    private static let leastChange = 0.01
    /// A rise by no more than this share waits until ``refreshInterval`` has passed: an estimate that grows does so with
    /// every feedback, ten times a second, and whoever hears of it is woken for it.
    private static let leastRise = 0.05
    /// Other delay or loss alone, and a small rise, are told no more often than this.
    private static let refreshInterval = Duration.seconds(1)

    /// What becomes of a target.
    enum Outcome {
        /// The encoder is to hear of it.
        case reported
        /// It is too little of a change to be told, before then or ever.
        case kept(until: Instant?)
    }

    /// Takes a new target, and decides whether the encoder hears of it.
    mutating func take(_ target: BitrateTarget, now: Instant) -> Outcome {
        let refresh = reportedAt?.advanced(by: Self.refreshInterval) ?? now
        if let reported, reported.isQueueFull == target.isQueueFull {
            let change = target.bitrate.change(from: reported.bitrate)
            let isRise = change > Self.leastChange && change <= Self.leastRise
            let isReported = abs(change) > Self.leastChange && !(isRise && now < refresh)
            guard isReported || now >= refresh && target.isPathNotablyOther(than: reported) else {
                return .kept(until: isRise ? refresh : nil)
            }
        }
        reported = target
        reportedAt = now
        return .reported
    }

    /// The media is not sent any more.
    mutating func clear() {
        reported = nil
    }
}

extension DataRate {
    /// The share of `before` that was gained, below zero for what was lost; infinite where one of both is zero.
    fileprivate func change(from before: DataRate) -> Double {
        guard self != before else { return 0 }
        guard min(self, before) > .zero else { return .infinity }
        return Double(bitsPerSecond - before.bitsPerSecond) / Double(before.bitsPerSecond)
    }
}
