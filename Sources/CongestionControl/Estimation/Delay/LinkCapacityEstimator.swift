package import RTCShareWireFormat

/// Remembers at which rate the path was last found full, and how sure that is.
///
/// Source: libwebrtc, `goog_cc/link_capacity_estimator`; draft-ietf-rmcat-gcc-02 5.5 (the average of the incoming rate
/// at overuse). Deviations: none.
package struct LinkCapacityEstimator: Sendable {
    private static let weight = 0.05
    private static let varianceRange = 0.4...2.5

    /// In kilobits per second.
    private var kilobits: Double?
    /// The variance in kilobits per second, divided by the estimate.
    private var normalizedVariance = 0.4

    /// No estimate yet.
    package init() {}

    /// The capacity; nil where none was found, or what was found no longer holds.
    package var estimate: DataRate? {
        kilobits.map { DataRate(kilobits: $0) }
    }

    /// Three standard deviations above the estimate; nil without one.
    package var upperBound: DataRate? {
        kilobits.map { DataRate(kilobits: $0 + 3 * (normalizedVariance * $0).squareRoot()) }
    }

    /// Three standard deviations below the estimate, at least zero; nil without one.
    package var lowerBound: DataRate? {
        kilobits.map { DataRate(kilobits: max(0, $0 - 3 * (normalizedVariance * $0).squareRoot())) }
    }

    /// Takes the rate that arrived while the path was overused.
    package mutating func overuseDetected(acknowledged: DataRate) {
        let sample = acknowledged.kilobits
        let value = kilobits.map { (1 - Self.weight) * $0 + Self.weight * sample } ?? sample
        let error = value - sample
        let variance = (1 - Self.weight) * normalizedVariance + Self.weight * error * error / max(value, 1)
        kilobits = value
        normalizedVariance = min(max(variance, Self.varianceRange.lowerBound), Self.varianceRange.upperBound)
    }

    /// Forgets the estimate.
    package mutating func reset() {
        kilobits = nil
    }
}
