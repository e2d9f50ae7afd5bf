package import RTCShareRTP
package import RTCShareWireFormat

/// Computes the capture time of media on its sender's wallclock, from the latest sender report (RFC 3550 §6.4.1).
///
/// A report contains the media clock at a wallclock time, and the clock rate gives the time of any timestamp. The
/// streams of one sender share the wallclock, so that the times of two streams are comparable.
package struct MediaClock: Sendable {
    /// The maximum deviation of a timestamp from the expected media clock at the packet's arrival. Beyond it, the
    /// report and the packet are not from one clock, and no time is better than a wrong one.
    package static let tolerance = Duration.seconds(10)

    private struct Reference: Sendable {
        let timestamp: RTPTimestamp
        let time: Duration
        let arrival: Instant
    }

    private let clockRate: Int
    private var reference: Reference?

    /// Creates a clock of `clockRate` ticks per second without a report.
    package init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Sets the mapping of a report that arrived at `now`. A sender without a wallclock reports zero (§6.4.1), which is
    /// ignored.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.ntpTimestamp.rawValue != 0 else { return }
        reference = Reference(
            timestamp: report.rtpTimestamp, time: report.ntpTimestamp.sinceUnixEpoch, arrival: now)
    }

    /// Removes the mapping, since the stream has restarted with another clock.
    package mutating func restart() {
        reference = nil
    }

    /// Returns the capture time of the media with this timestamp, since 1 January 1970 on the sender's wallclock, if
    /// its packet arrived at `arrival`. It is nil before a report, or if the timestamp does not fit the latest one.
    package func captureTime(of timestamp: RTPTimestamp, arrival: Instant) -> Duration? {
        guard let reference else { return nil }
        // A report is never so old that the shorter direction around 32 bits is wrong, unless the timestamp does not
        // fit anyway.
        let elapsed = timestamp.duration(since: reference.timestamp, clockRate: clockRate)
        let difference = elapsed - (arrival - reference.arrival)
        guard difference <= Self.tolerance, difference >= .zero - Self.tolerance else { return nil }
        return reference.time + elapsed
    }
}
