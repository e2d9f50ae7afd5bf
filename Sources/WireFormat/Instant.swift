/// A point on the monotonic clock (`CLOCK_MONOTONIC`, or the virtual clock of a test), in nanoseconds since its start.
///
/// The layers below the runtime never read a clock: they receive the instant with each input.
///
/// Methods that run for every packet are inlined, and divide in 64 bits if these hold the time: the 128-bit divisions
/// of `Duration.components` cost more than the rest of a packet's pacing.
public struct Instant: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// Creates the instant `nanoseconds` after the clock's start.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the instant `duration` later, limited to the clock's range.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return duration < .zero ? Instant(nanoseconds: .min) : .distantFuture
    }

    /// Returns the time from this instant to `other`.
    @inlinable
    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` is the earlier one.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the time from `right` to `left`.
    @inlinable
    public static func - (left: Instant, right: Instant) -> Duration {
        right.duration(to: left)
    }

    /// The latest instant, for an event that never happens.
    public static let distantFuture = Instant(nanoseconds: .max)
}

extension Duration {
    /// This duration in nanoseconds, limited to the range of 64 bits.
    @inlinable public var wholeNanoseconds: Int64 {
        if let attoseconds = shortAttoseconds { return attoseconds / 1_000_000_000 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }

    /// This duration in seconds.
    @inlinable public var seconds: Double {
        if let attoseconds = shortAttoseconds {
            let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
            return Double(seconds) + Double(rest) * 1e-18
        }
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// This duration in milliseconds.
    @inlinable public var milliseconds: Double { seconds * 1000 }

    /// This duration in attoseconds if these fit in 64 bits (some nine seconds either way); nil otherwise.
    @inlinable var shortAttoseconds: Int64? {
        let whole = attoseconds
        let short = Int64(truncatingIfNeeded: whole)
        return Int128(short) == whole ? short : nil
    }
}
