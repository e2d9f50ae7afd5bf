internal import RTCShareWireFormat

/// Compares the delay's trend with a threshold that adapts to how much the delay wavers by itself.
///
/// Source: libwebrtc, `goog_cc/trendline_estimator` (its detection half); draft-ietf-rmcat-gcc-02 5.4, whose gains
/// differ (0.01 and 0.00018). Deviations: takes the trend from outside, so that another estimator can feed it.
package struct OveruseDetector: Sendable {
    /// What the delay says of the path.
    package enum Usage: Hashable, Sendable {
        /// The queues keep their length.
        case normal
        /// A queue grows.
        case overusing
        /// A queue drains.
        case underusing
    }

    /// Multiplies the trend.
    package static let thresholdGain = 4.0
    /// How many group differences a trend is scaled by at most.
    package static let deltaCountLimit = 60
    /// What the threshold never leaves, in milliseconds.
    package static let thresholdRange = 6.0...600.0
    private static let gainUp = 0.0087
    private static let gainDown = 0.039
    private static let overuseTime = 10.0
    private static let largestAdaptation = 15.0
    private static let longestStep = 100.0

    /// The newest finding.
    package private(set) var usage = Usage.normal
    /// Where overuse begins, in milliseconds.
    package private(set) var threshold = 12.5
    private var trendBefore = 0.0
    /// How long the trend has been above the threshold, in milliseconds; nil while it is not.
    private var timeOver: Double?
    private var timesOver = 0
    private var lastUpdate: Duration?

    /// A detector that finds all normal.
    package init() {}

    /// Takes a trend.
    ///
    /// - Parameters:
    ///   - trend: milliseconds of delay gained a millisecond.
    ///   - sendDelta: the time between the sending of the last two groups.
    ///   - deltaCount: group differences seen so far.
    ///   - arrival: when the newest group arrived, on the receiver's clock.
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
        // The first time, the trend may have crossed the threshold anywhere since the sample before: half way.
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
        // A spike, such as a sudden loss of capacity makes, is no reason to be less sensitive.
        guard magnitude <= threshold + Self.largestAdaptation else { return }
        let gain = magnitude < threshold ? Self.gainDown : Self.gainUp
        threshold += gain * (magnitude - threshold) * max(0, min(elapsed, Self.longestStep))
        threshold = min(max(threshold, Self.thresholdRange.lowerBound), Self.thresholdRange.upperBound)
    }
}
