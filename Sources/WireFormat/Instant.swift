/// A point on the monotonic clock (`CLOCK_MONOTONIC`, or the virtual clock of a test), in nanoseconds since its start.
///
/// The floors below the runtime never read a clock: they are told the instant with each input.
///
/// What is asked for every packet is inlined where it is asked, and divides in 64 bits where they hold the time: the
/// 128-bit divisions of `Duration.components` cost more than all else that pacing a packet takes.
public struct Instant: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the clock's start.
    public let nanoseconds: Int64

    /// The instant this many nanoseconds after the clock's start.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The instant `duration` later, held at the clock's ends.
    @inlinable
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        guard overflow else { return Instant(nanoseconds: sum) }
        return duration < .zero ? Instant(nanoseconds: .min) : .distantFuture
    }

    /// How long it is from this instant to `other`.
    @inlinable
    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }

    /// Whether `left` is the earlier one.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// How long it is from `right` to `left`.
    @inlinable
    public static func - (left: Instant, right: Instant) -> Duration {
        right.duration(to: left)
    }

    /// Later than anything that will be asked for.
    public static let distantFuture = Instant(nanoseconds: .max)
}

extension Duration {
    /// This duration in nanoseconds, held at the ends of 64 bits.
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

    /// All of it in attoseconds, up to some nine seconds either way; nil for more.
    @inlinable var shortAttoseconds: Int64? {
        let whole = attoseconds
        let short = Int64(truncatingIfNeeded: whole)
        return Int128(short) == whole ? short : nil
    }
}
