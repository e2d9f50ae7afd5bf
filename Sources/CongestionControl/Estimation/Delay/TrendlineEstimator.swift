internal import RTCShareWireFormat

/// The slope of the smoothed one-way delay over the last groups of packets, by least squares.
///
/// Source: libwebrtc, `goog_cc/trendline_estimator`. It replaces the Kalman filter of draft-ietf-rmcat-gcc-02 5.3.
/// Deviations: arrival times are not truncated to milliseconds; the optional sorting and capping of field trials, off
/// by default there, do not exist; detection is separate, in `OveruseDetector`.
package struct TrendlineEstimator: Sendable {
    private struct Sample: Sendable {
        var time: Double
        var delay: Double
    }

    /// The number of groups to which the line is fitted.
    package static let windowSize = 20
    /// The weight of the old value in the smoothing.
    package static let smoothing = 0.9

    /// The growth of the delay in milliseconds per millisecond, which is near (rate - capacity) / capacity while a
    /// queue grows; 0 until the window is full.
    package private(set) var trend = 0.0
    /// The number of differences so far, up to 1000.
    package private(set) var deltaCount = 0
    /// The last `windowSize` samples. The next one replaces the oldest.
    private var samples: [Sample] = []
    private var next = 0
    private var accumulatedDelay = 0.0
    private var smoothedDelay = 0.0
    private var firstArrival: Duration?

    /// Creates an estimator without samples.
    package init() {
        samples.reserveCapacity(Self.windowSize)
    }

    /// Adds the difference of two groups. The later group arrived at `arrival` on the receiver's clock.
    package mutating func update(sendDelta: Duration, arrivalDelta: Duration, arrival: Duration) {
        deltaCount = min(deltaCount + 1, 1000)
        let first = firstArrival ?? arrival
        firstArrival = first
        accumulatedDelay += (arrivalDelta - sendDelta).milliseconds
        smoothedDelay = Self.smoothing * smoothedDelay + (1 - Self.smoothing) * accumulatedDelay
        let sample = Sample(time: (arrival - first).milliseconds, delay: smoothedDelay)
        if samples.count < Self.windowSize {
            samples.append(sample)
        } else {
            samples[next] = sample
            next = (next + 1) % Self.windowSize
        }
        if samples.count == Self.windowSize, let slope { trend = slope }
    }

    /// The slope of the line through the samples; nil if all arrived at the same time.
    private var slope: Double? {
        let count = Double(samples.count)
        var meanTime = 0.0
        var meanDelay = 0.0
        for sample in samples {
            meanTime += sample.time / count
            meanDelay += sample.delay / count
        }
        var covariance = 0.0
        var variance = 0.0
        for sample in samples {
            let time = sample.time - meanTime
            covariance += time * (sample.delay - meanDelay)
            variance += time * time
        }
        return variance > 0 ? covariance / variance : nil
    }
}
