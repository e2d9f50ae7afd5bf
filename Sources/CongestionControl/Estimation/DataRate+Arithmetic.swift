internal import RTCShareWireFormat

extension DataRate {
    /// Returns the difference, at least zero.
    static func - (left: DataRate, right: DataRate) -> DataRate {
        let (difference, overflow) = left.bitsPerSecond.subtractingReportingOverflow(right.bitsPerSecond)
        return .bitsPerSecond(overflow ? 0 : max(0, difference))
    }

    /// This rate in kilobits per second.
    var kilobits: Double { Double(bitsPerSecond) / 1000 }

    /// Creates a rate in kilobits per second. Negative numbers become zero, too large numbers the maximum.
    init(kilobits: Double) {
        self = .bitsPerSecond(Int64(exactly: max(0, kilobits * 1000).rounded()) ?? .max)
    }
}
