internal import RTCShareWireFormat

/// A wallclock time since 1 January 1900, in 2⁻³² seconds (RFC 3550 §4).
package struct NTPTimestamp: Hashable, Sendable {
    /// Seconds in the high half, their fraction in the low half.
    package let rawValue: UInt64
    /// Creates the timestamp with this value on the wire.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// Creates the timestamp `time` after 1 January 1970. The seconds wrap in 2036, as they do on the wire.
    package init(sinceUnixEpoch time: Duration) {
        let (seconds, attoseconds) = time.components
        let wholeSeconds = attoseconds < 0 ? seconds &- 1 : seconds
        let rest = UInt64(attoseconds < 0 ? attoseconds + 1_000_000_000_000_000_000 : attoseconds)
        let fraction = ((rest / 1_000_000_000) << 32) / 1_000_000_000
        self.init(UInt64(truncatingIfNeeded: wholeSeconds &+ 2_208_988_800) << 32 | fraction)
    }

    /// The time since 1 January 1970. If their highest bit is set, the seconds count from 1900, otherwise from their
    /// wrap in 2036 (RFC 4330 §3): a value represents an instant between 1968 and 2104.
    package var sinceUnixEpoch: Duration {
        let seconds = Int64(rawValue >> 32) + (rawValue >> 63 == 0 ? 1 << 32 : 0) - 2_208_988_800
        let nanoseconds = Int64(((rawValue & 0xFFFF_FFFF) * 1_000_000_000 + 1 << 31) >> 32)
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }

    /// The middle 32 bits, as in reports: 16 bits of seconds and 16 bits of fraction.
    package var middle32: NTPShortTime { NTPShortTime(UInt32(truncatingIfNeeded: rawValue >> 16)) }
}

/// A time or a time span in 1/65536 seconds, as in report blocks (RFC 3550 §6.4.1, LSR and DLSR).
package struct NTPShortTime: SerialNumber {
    /// Units of 1/65536 seconds, modulo 2³².
    package let rawValue: UInt32
    /// Creates the time with this value on the wire.
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates a time span, limited to the range from zero to 2¹⁶ seconds.
    package init(_ span: Duration) {
        let units = max(0, span.seconds * 65536)
        self.init(UInt32(exactly: units.rounded(.down)) ?? .max)
    }

    /// This value as a time span.
    package var duration: Duration {
        .nanoseconds(Int64((UInt64(rawValue) &* 1_000_000_000) >> 16))
    }
}
