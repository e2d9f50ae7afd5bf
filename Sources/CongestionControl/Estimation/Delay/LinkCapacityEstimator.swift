package import RTCShareWireFormat

/// The rate at which the path was last full, with its uncertainty.
///
/// Source: libwebrtc, `goog_cc/link_capacity_estimator`; draft-ietf-rmcat-gcc-02 5.5 (the average of the incoming rate
/// at overuse). Deviations: none.
package struct LinkCapacityEstimator: Sendable {
    private static let weight = 0.05
    private static let varianceRange = 0.4...2.5

    /// The estimate in kilobits per second.
    private var kilobits: Double?
    /// The variance in kilobits per second, divided by the estimate.
    private var normalizedVariance = 0.4

    /// Creates an estimator without an estimate.
    package init() {}

    /// The capacity; nil if it was not found, or the found value no longer holds.
    package var estimate: DataRate? {
        kilobits.map { DataRate(kilobits: $0) }
    }

    /// The estimate plus three standard deviations; nil without an estimate.
    package var upperBound: DataRate? {
        kilobits.map { DataRate(kilobits: $0 + 3 * (normalizedVariance * $0).squareRoot()) }
    }

    /// The estimate minus three standard deviations, at least zero; nil without an estimate.
    package var lowerBound: DataRate? {
        kilobits.map { DataRate(kilobits: max(0, $0 - 3 * (normalizedVariance * $0).squareRoot())) }
    }

    /// Records the arrival rate while the path was overused.
    package mutating func overuseDetected(acknowledged: DataRate) {
        let sample = acknowledged.kilobits
        let value = kilobits.map { (1 - Self.weight) * $0 + Self.weight * sample } ?? sample
        let error = value - sample
        let variance = (1 - Self.weight) * normalizedVariance + Self.weight * error * error / max(value, 1)
        kilobits = value
        normalizedVariance = min(max(variance, Self.varianceRange.lowerBound), Self.varianceRange.upperBound)
    }

    /// Removes the estimate.
    package mutating func reset() {
        kilobits = nil
    }
}
