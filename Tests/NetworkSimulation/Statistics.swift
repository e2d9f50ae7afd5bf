/// Jain's index of fairness of shares: 1 where all are equal, 1/n where one of n has everything; 1 of nothing.
package func jainIndex(_ shares: some Collection<Double>) -> Double {
    let sum = shares.reduce(0, +)
    let squares = shares.reduce(0) { $0 + $1 * $1 }
    return squares > 0 ? sum * sum / (Double(shares.count) * squares) : 1
}

extension Collection<Double> {
    /// The least value that this share of all values, 0...1, does not exceed; nil of none.
    package func percentile(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        let sorted = sorted()
        return sorted[Swift.min(sorted.count - 1, Swift.max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1))]
    }
}
