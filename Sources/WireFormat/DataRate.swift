/// Bits in a time, held as bits per second.
public struct DataRate: Comparable, Hashable, Sendable, Codable {
    /// Bits per second.
    public let bitsPerSecond: Int64

    /// This many bits per second.
    @inlinable
    public static func bitsPerSecond(_ value: some BinaryInteger) -> DataRate {
        DataRate(bitsPerSecond: Int64(clamping: value))
    }

    /// This many thousand bits per second.
    @inlinable
    public static func kilobitsPerSecond(_ value: Int) -> DataRate {
        let (bits, overflow) = Int64(value).multipliedReportingOverflow(by: 1000)
        return DataRate(bitsPerSecond: overflow ? .max : bits)
    }

    /// The rate at which `byteCount` bytes took `duration`; zero for no time at all.
    @inlinable
    public init(byteCount: Int, over duration: Duration) {
        let seconds = duration.seconds
        let bits = seconds > 0 ? Double(byteCount) * 8 / seconds : 0
        self.init(bitsPerSecond: Int64(exactly: bits.rounded()) ?? .max)
    }

    @inlinable
    init(bitsPerSecond: Int64) {
        self.bitsPerSecond = bitsPerSecond
    }

    /// Nothing.
    public static let zero = DataRate(bitsPerSecond: 0)

    /// How long `byteCount` bytes take at this rate. A rate of zero counts as one bit a second.
    @inlinable
    public func duration(ofBytes byteCount: Int) -> Duration {
        .nanoseconds(Int64(Double(byteCount) * 8e9 / Double(max(1, bitsPerSecond))))
    }

    /// Bytes that this rate carries in `duration`.
    @inlinable
    public func bytes(in duration: Duration) -> Int {
        Int(exactly: (Double(bitsPerSecond) / 8 * duration.seconds).rounded(.down)) ?? .max
    }

    /// Whether `left` is the lower rate.
    @inlinable
    public static func < (left: DataRate, right: DataRate) -> Bool {
        left.bitsPerSecond < right.bitsPerSecond
    }

    /// Both together; the largest rate there is where that is more.
    public static func + (left: DataRate, right: DataRate) -> DataRate {
        let (sum, overflow) = left.bitsPerSecond.addingReportingOverflow(right.bitsPerSecond)
        return DataRate(bitsPerSecond: overflow ? .max : sum)
    }

    /// A share of a rate, to the nearest bit per second.
    @inlinable
    public static func * (left: DataRate, right: Double) -> DataRate {
        DataRate(bitsPerSecond: Int64(exactly: (Double(left.bitsPerSecond) * right).rounded()) ?? .max)
    }
}

extension DataRate: CustomStringConvertible {
    /// Such as `2500 kbit/s`; what is no whole number of kilobits in bits.
    public var description: String {
        bitsPerSecond % 1000 == 0 ? "\(bitsPerSecond / 1000) kbit/s" : "\(bitsPerSecond) bit/s"
    }
}
