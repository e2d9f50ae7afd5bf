/// A data rate, in bits per second.
public struct DataRate: Comparable, Hashable, Sendable, Codable {
    /// Bits per second.
    public let bitsPerSecond: Int64

    /// Returns a rate in bits per second, limited to 64 bits.
    @inlinable
    public static func bitsPerSecond(_ value: some BinaryInteger) -> DataRate {
        DataRate(bitsPerSecond: Int64(clamping: value))
    }

    /// Returns a rate in thousands of bits per second.
    @inlinable
    public static func kilobitsPerSecond(_ value: Int) -> DataRate {
        let (bits, overflow) = Int64(value).multipliedReportingOverflow(by: 1000)
        return DataRate(bitsPerSecond: overflow ? .max : bits)
    }

    /// Creates the rate at which `byteCount` bytes take `duration`; zero for a duration of zero.
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

    /// A rate of 0 bits per second.
    public static let zero = DataRate(bitsPerSecond: 0)

    /// Returns the time that `byteCount` bytes take at this rate. A rate of zero counts as one bit per second.
    @inlinable
    public func duration(ofBytes byteCount: Int) -> Duration {
        .nanoseconds(Int64(Double(byteCount) * 8e9 / Double(max(1, bitsPerSecond))))
    }

    /// Returns the number of whole bytes that this rate carries in `duration`.
    @inlinable
    public func bytes(in duration: Duration) -> Int {
        Int(exactly: (Double(bitsPerSecond) / 8 * duration.seconds).rounded(.down)) ?? .max
    }

    /// Whether `left` is the lower rate.
    @inlinable
    public static func < (left: DataRate, right: DataRate) -> Bool {
        left.bitsPerSecond < right.bitsPerSecond
    }

    /// Returns the sum of two rates, limited to the largest rate.
    public static func + (left: DataRate, right: DataRate) -> DataRate {
        let (sum, overflow) = left.bitsPerSecond.addingReportingOverflow(right.bitsPerSecond)
        return DataRate(bitsPerSecond: overflow ? .max : sum)
    }

    /// Returns a fraction of a rate, rounded to the nearest bit per second.
    @inlinable
    public static func * (left: DataRate, right: Double) -> DataRate {
        DataRate(bitsPerSecond: Int64(exactly: (Double(left.bitsPerSecond) * right).rounded()) ?? .max)
    }
}

extension DataRate: CustomStringConvertible {
    /// The rate in whole kilobits, such as `2500 kbit/s`, or else in bits.
    public var description: String {
        bitsPerSecond % 1000 == 0 ? "\(bitsPerSecond / 1000) kbit/s" : "\(bitsPerSecond) bit/s"
    }
}
