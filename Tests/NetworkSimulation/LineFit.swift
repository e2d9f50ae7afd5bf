/// A line through values that were taken over time, beside something else that they depend on: least squares.
///
///     value = intercept + slope · time + effect · other
///
/// What the other explains is taken out of both first (Frisch and Waugh), and the line goes through what is left. The
/// error of the slope takes into account that neighbouring values are alike: where each follows from the one before, with
/// a correlation of r, n of them say as much as n (1 − r) / (1 + r) that do not.
package struct LineFit: Sendable {
    /// How much the value grows in one unit of time.
    package let slope: Double
    /// The standard error of the slope; infinite where there are too few values to tell.
    package let slopeError: Double
    /// The middle of the times, and of the values.
    package let middle: (time: Double, value: Double)

    /// The fit of `values` at `times`, with the `other` of each moment. As many of each; nil of none.
    package init?(times: [Double], values: [Double], other: [Double]) {
        guard !times.isEmpty, times.count == values.count, times.count == other.count else { return nil }
        middle = (times.mean, values.mean)
        let time = Self.residuals(of: times, by: other)
        let value = Self.residuals(of: values, by: other)
        let spread = Self.product(time, time)
        // Of values at one moment nothing can be said.
        guard spread > 1e-9 * Double(times.count) else {
            (slope, slopeError) = (0, .infinity)
            return
        }
        let slope = Self.product(time, value) / spread
        self.slope = slope
        let left = zip(value, time).map { $0 - slope * $1 }
        let squares = Self.product(left, left)
        guard squares > 1e-12 * Double(times.count) else {
            slopeError = times.count > 3 ? 0 : .infinity
            return
        }
        let alike = min(max(Self.product(left.dropLast(), left.dropFirst()) / squares, 0), 0.99)
        let freedom = Double(times.count) * (1 - alike) / (1 + alike) - 3
        slopeError = freedom > 0 ? (squares / freedom / spread).squareRoot() : .infinity
    }

    /// The line at a time, where the other is as it was in the mean.
    package func value(at time: Double) -> Double { middle.value + slope * (time - middle.time) }

    /// What is left of `values` once a line over `other` is taken out, around zero.
    private static func residuals(of values: [Double], by other: [Double]) -> [Double] {
        let (mean, otherMean) = (values.mean, other.mean)
        let centred = values.map { $0 - mean }
        let otherCentred = other.map { $0 - otherMean }
        let spread = product(otherCentred, otherCentred)
        guard spread > 1e-9 * Double(values.count) else { return centred }
        let effect = product(centred, otherCentred) / spread
        return zip(centred, otherCentred).map { $0 - effect * $1 }
    }

    private static func product(_ a: some Sequence<Double>, _ b: some Sequence<Double>) -> Double {
        zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
    }
}

extension Array<Double> {
    fileprivate var mean: Double { isEmpty ? 0 : reduce(0, +) / Double(count) }
}
