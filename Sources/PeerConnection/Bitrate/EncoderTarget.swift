internal import RTCShareWireFormat

/// What the encoder of a media could use, and what it was told that it may.
struct EncoderTarget {
    /// What it could use; nil where its owner has not said.
    var demand: BitrateDemand?
    /// What it was told last; nil while it is not sent.
    private(set) var told: BitrateTarget?
    private var toldAt: Instant?

    /// A target that differs from what was told by no more than this share is not told.
    private static let toldChange = 0.01
    /// A rise by no more than this share waits until ``refreshInterval`` has passed: an estimate that grows does so with
    /// every feedback, ten times a second, and whoever hears of it is woken for it.
    private static let toldRise = 0.05
    /// Other delay or loss alone, and a small rise, are told no more often than this.
    private static let refreshInterval = Duration.seconds(1)

    /// What becomes of a target.
    enum Outcome {
        /// The encoder is to hear of it.
        case told
        /// It is too little of a change to be told, before then or ever.
        case kept(until: Instant?)
    }

    /// Takes a new target, and decides whether the encoder hears of it.
    mutating func take(_ target: BitrateTarget, now: Instant) -> Outcome {
        let refresh = toldAt?.advanced(by: Self.refreshInterval) ?? now
        if let told, told.isQueueFull == target.isQueueFull {
            let change = target.bitrate.change(from: told.bitrate)
            let isRise = change > Self.toldChange && change <= Self.toldRise
            let isTold = abs(change) > Self.toldChange && !(isRise && now < refresh)
            guard isTold || now >= refresh && target.isPathNotablyOther(than: told) else {
                return .kept(until: isRise ? refresh : nil)
            }
        }
        told = target
        toldAt = now
        return .told
    }

    /// The media is not sent any more.
    mutating func clear() {
        told = nil
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
