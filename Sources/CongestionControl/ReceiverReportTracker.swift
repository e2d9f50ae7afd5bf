package import RTCShareRTP
import RTCShareWireFormat

/// A receiver's report on one of our streams (RFC 3550 §6.4.1).
package struct LossReport: Hashable, Sendable {
    /// The fraction lost since the previous report, 0...1.
    package let fractionLost: Double
    /// The number of packets lost since the beginning; negative if duplicates outnumber losses.
    package let packetsLost: Int
    /// The highest sequence number received, with the number of its wraps in the high half.
    package let extendedHighestSequenceNumber: UInt32
    /// The interarrival jitter.
    package let jitter: Duration
    /// The round-trip time; nil if the report refers to no sender report.
    package let roundTripTime: Duration?
}

/// Stores the latest report on a stream and the round-trip times of all reports, with the names of W3C webrtc-stats'
/// `remote-inbound-rtp`.
package struct ReceiverReportTracker: Sendable {
    /// The latest report.
    package private(set) var newest: LossReport?
    /// The number of reports.
    package private(set) var reportsReceived = 0
    /// The sum of the measured round-trip times (`totalRoundTripTime`).
    package private(set) var totalRoundTripTime = Duration.zero
    /// The number of measurements in that sum (`roundTripTimeMeasurements`).
    package private(set) var roundTripTimeMeasurements = 0
    /// The round-trip time. Increases are smoothed by 1/8 as in RFC 6298 §2, decreases apply immediately, since a
    /// report can be delayed for other reasons than the path. It is nil before the first measurement.
    package private(set) var smoothedRoundTripTime: Duration?
    /// The arrival time of the latest report, on the clock of the sender reports; nil before the first.
    private var arrival: NTPTimestamp?

    /// The age up to which a report is recent: those of each second are up to 1.5 s apart (RFC 3550 §6.3.1).
    private static let recentAge = Duration.seconds(2)

    private let clockRate: Int

    /// Creates a tracker of a stream whose clock rate is `clockRate` Hz.
    package init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Returns the round-trip time of the latest report, if that is recent. It includes a queue that has just grown, but
    /// the smoothed time does not.
    package func recentRoundTripTime(at now: NTPTimestamp) -> Duration? {
        guard let arrival, now.sinceUnixEpoch - arrival.sinceUnixEpoch <= Self.recentAge else { return nil }
        return newest?.roundTripTime
    }

    /// Processes a report block that arrived at `arrival`, on the clock of the sender reports.
    @discardableResult
    package mutating func receive(_ block: ReportBlock, arrival: NTPTimestamp) -> LossReport {
        let roundTripTime = block.roundTripTime(at: arrival)
        let report = LossReport(
            fractionLost: Double(block.fractionLost) / 256, packetsLost: Int(block.cumulativeLost),
            extendedHighestSequenceNumber: block.extendedHighestSequenceNumber,
            jitter: .nanoseconds(Int64(block.jitter) * 1_000_000_000 / Int64(clockRate)), roundTripTime: roundTripTime)
        newest = report
        self.arrival = arrival
        reportsReceived += 1
        if let roundTripTime {
            totalRoundTripTime += roundTripTime
            roundTripTimeMeasurements += 1
            let smoothed = smoothedRoundTripTime.map { $0 + (roundTripTime - $0) / 8 } ?? roundTripTime
            smoothedRoundTripTime = min(smoothed, roundTripTime)
        }
        return report
    }
}
