internal import RTCShareWireFormat

extension DataRate {
    /// The difference, no less than zero.
    static func - (left: DataRate, right: DataRate) -> DataRate {
        let (difference, overflow) = left.bitsPerSecond.subtractingReportingOverflow(right.bitsPerSecond)
        return .bitsPerSecond(overflow ? 0 : max(0, difference))
    }

    /// This rate in kilobits per second.
    var kilobits: Double { Double(bitsPerSecond) / 1000 }

    /// The rate of so many kilobits per second; zero for fewer than none, the highest for more than can be held.
    init(kilobits: Double) {
        self = .bitsPerSecond(Int64(exactly: max(0, kilobits * 1000).rounded()) ?? .max)
    }
}
