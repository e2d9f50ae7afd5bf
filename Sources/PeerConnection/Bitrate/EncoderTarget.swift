internal import RTCShareWireFormat

/// The bitrate demand of a media's encoder, and its latest reported target.
struct EncoderTarget {
    /// The demand of the encoder; nil if its owner has not set it.
    var demand: BitrateDemand?
    /// The latest reported target; nil while the media is not sent.
    private(set) var reported: BitrateTarget?
    private var reportedAt: Instant?

    /// The maximum relative change that is not reported.
    private static let leastChange = 0.01
    /// The maximum relative increase that is postponed until ``refreshInterval`` has passed. A growing estimate
    /// increases with every feedback, ten times per second, and each report would wake the encoder's thread.
    private static let leastRise = 0.05
    /// The minimum interval of reports of small increases and of changes of only the delay or the loss.
    private static let refreshInterval = Duration.seconds(1)

    /// The result for a new target.
    enum Outcome {
        /// The target must be reported to the encoder.
        case reported
        /// The change is too small to be reported, until the given time, or at all if that is nil.
        case kept(until: Instant?)
    }

    /// Processes a new target, and decides whether to report it to the encoder.
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

    /// Clears the target, since the media is not sent any more.
    mutating func clear() {
        reported = nil
    }
}

extension DataRate {
    /// Returns the relative change from `before`, negative for a decrease; infinite if either is zero.
    fileprivate func change(from before: DataRate) -> Double {
        guard self != before else { return 0 }
        guard min(self, before) > .zero else { return .infinity }
        return Double(bitsPerSecond - before.bitsPerSecond) / Double(before.bitsPerSecond)
    }
}
