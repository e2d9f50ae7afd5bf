/// A least-squares line through values over time that also depend on another variable.
///
///     value = intercept + slope · time + effect · other
///
/// The influence of the other variable is removed from times and values first (Frisch and Waugh), and the line fits the
/// residuals. The error of the slope includes the correlation of neighboring values: with a correlation of r from one
/// to the next, n of them have as much information as n (1 − r) / (1 + r) independent ones.
package struct LineFit: Sendable {
    /// The change of the value in one unit of time.
    package let slope: Double
    /// The standard error of the slope; infinite if there are too few values.
    package let slopeError: Double
    /// The means of the times and of the values.
    package let middle: (time: Double, value: Double)

    /// Fits `values` at `times`, with the `other` variable at each. The arrays have the same length; nil if they are
    /// empty.
    package init?(times: [Double], values: [Double], other: [Double]) {
        guard !times.isEmpty, times.count == values.count, times.count == other.count else { return nil }
        middle = (times.mean, values.mean)
        let time = Self.residuals(of: times, by: other)
        let value = Self.residuals(of: values, by: other)
        let spread = Self.product(time, time)
        // Values at one time have no slope.
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

    /// Returns the line's value at a time, with the other variable at its mean.
    package func value(at time: Double) -> Double { middle.value + slope * (time - middle.time) }

    /// Returns the residuals of `values` after a linear fit over `other`, with a mean of zero.
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
