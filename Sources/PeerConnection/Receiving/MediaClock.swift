package import RTCShareRTP
package import RTCShareWireFormat

/// Tells when media was taken on its sender's wallclock, by the newest sender report (RFC 3550 §6.4.1).
///
/// A report says what the media clock showed at an instant of the wallclock; from there the clock rate leads to any
/// timestamp. The streams of one sender share the wallclock, so that what this says of two of them can be compared.
package struct MediaClock: Sendable {
    /// The furthest that a timestamp may stand from where the clock should be when its packet arrives. Beyond it the
    /// report and the packet are not of one clock, and no time is better than a wrong one.
    package static let tolerance = Duration.seconds(10)

    private struct Reference: Sendable {
        let timestamp: RTPTimestamp
        let time: Duration
        let arrival: Instant
    }

    private let clockRate: Int
    private var reference: Reference?

    /// A clock of `clockRate` ticks a second of which nothing was reported.
    package init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Takes the mapping of a report that arrived at `now`. A sender without a wallclock reports zero (§6.4.1), which
    /// says nothing.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.ntpTimestamp.rawValue != 0 else { return }
        reference = Reference(
            timestamp: report.rtpTimestamp, time: report.ntpTimestamp.sinceUnixEpoch, arrival: now)
    }

    /// Forgets the reports: the stream has begun anew, with another clock.
    package mutating func restart() {
        reference = nil
    }

    /// When the media with this timestamp was taken, since 1 January 1970 on the sender's wallclock, where its packet
    /// arrived at `arrival`; nil before a report, or where the timestamp doesn't suit the newest one.
    package func captureTime(of timestamp: RTPTimestamp, arrival: Instant) -> Duration? {
        guard let reference else { return nil }
        // A report is never so old that the shorter way around 32 bits is the wrong one, unless it doesn't suit anyway.
        let elapsed = timestamp.duration(since: reference.timestamp, clockRate: clockRate)
        let difference = elapsed - (arrival - reference.arrival)
        guard difference <= Self.tolerance, difference >= .zero - Self.tolerance else { return nil }
        return reference.time + elapsed
    }
}
