/// Returns Jain's fairness index of shares: 1 if all are equal or there are none, 1/n if one of n has everything.
package func jainIndex(_ shares: some Collection<Double>) -> Double {
    let sum = shares.reduce(0, +)
    let squares = shares.reduce(0) { $0 + $1 * $1 }
    return squares > 0 ? sum * sum / (Double(shares.count) * squares) : 1
}

extension Collection<Double> {
    /// Returns the smallest value that this fraction of all values, 0...1, does not exceed; nil for no values.
    package func percentile(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return sorted[Swift.min(sorted.count - 1, Swift.max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
    }
}
