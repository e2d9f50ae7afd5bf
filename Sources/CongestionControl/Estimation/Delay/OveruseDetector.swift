internal import RTCShareWireFormat

/// Compares the delay's trend with a threshold that adapts to the normal variation of the delay.
///
/// Source: libwebrtc, `goog_cc/trendline_estimator` (its detection half); draft-ietf-rmcat-gcc-02 5.4, whose gains
/// differ (0.01 and 0.00018). Deviations: the trend is a parameter, so that another estimator can provide it.
package struct OveruseDetector: Sendable {
    /// The path usage that the delay shows.
    package enum Usage: Hashable, Sendable {
        /// The queues keep their length.
        case normal
        /// A queue grows.
        case overusing
        /// A queue drains.
        case underusing
    }

    /// The factor on the trend.
    package static let thresholdGain = 4.0
    /// The maximum number of group differences by which a trend is scaled.
    package static let deltaCountLimit = 60
    /// The range of the threshold, in milliseconds.
    package static let thresholdRange = 6.0...600.0
    private static let gainUp = 0.0087
    private static let gainDown = 0.039
    private static let overuseTime = 10.0
    private static let largestAdaptation = 15.0
    private static let longestStep = 100.0

    /// The latest result.
    package private(set) var usage = Usage.normal
    /// The threshold of overuse, in milliseconds.
    package private(set) var threshold = 12.5
    private var trendBefore = 0.0
    /// The time for which the trend has been above the threshold, in milliseconds; nil while it is not.
    private var timeOver: Double?
    private var timesOver = 0
    private var lastUpdate: Duration?

    /// Creates a detector in the normal state.
    package init() {}

    /// Processes a trend.
    ///
    /// - Parameters:
    /// - trend: The growth of the delay in milliseconds per millisecond.
    /// - sendDelta: The time between the sending of the last two groups.
    /// - deltaCount: The number of group differences so far.
    /// - arrival: The arrival time of the newest group on the receiver's clock.
    package mutating func detect(trend: Double, sendDelta: Duration, deltaCount: Int, arrival: Duration) {
        guard deltaCount >= 2 else {
            usage = .normal
            return
        }
        let scaled = Double(min(deltaCount, Self.deltaCountLimit)) * trend * Self.thresholdGain
        if scaled > threshold {
            detectOveruse(trend: trend, sendDelta: sendDelta.milliseconds)
        } else {
            timeOver = nil
            timesOver = 0
            usage = scaled < -threshold ? .underusing : .normal
        }
        trendBefore = trend
        adapt(to: abs(scaled), arrival: arrival)
    }

    private mutating func detectOveruse(trend: Double, sendDelta: Double) {
        // The trend first crossed the threshold at an unknown time since the previous sample: this assumes the middle.
        let time = timeOver.map { $0 + sendDelta } ?? sendDelta / 2
        timeOver = time
        timesOver += 1
        guard time > Self.overuseTime, timesOver > 1, trend >= trendBefore else { return }
        timeOver = 0
        timesOver = 0
        usage = .overusing
    }

    private mutating func adapt(to magnitude: Double, arrival: Duration) {
        let elapsed = lastUpdate.map { (arrival - $0).milliseconds } ?? 0
        lastUpdate = arrival
        // A spike, such as that of a sudden loss of capacity, must not reduce the sensitivity.
        guard magnitude <= threshold + Self.largestAdaptation else { return }
        let gain = magnitude < threshold ? Self.gainDown : Self.gainUp
        threshold += gain * (magnitude - threshold) * max(0, min(elapsed, Self.longestStep))
        threshold = min(max(threshold, Self.thresholdRange.lowerBound), Self.thresholdRange.upperBound)
    }
}
