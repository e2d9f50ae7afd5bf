package import RTCShareRTP
import RTCShareWireFormat

/// What the reports of a receiver say of one of our streams (RFC 3550 §6.4.1).
package struct LossReport: Hashable, Sendable {
    /// The share lost since the report before, 0...1.
    package let fractionLost: Double
    /// Packets lost since the beginning; negative where second copies outnumber them.
    package let packetsLost: Int
    /// The highest sequence number that the receiver has, with its wraps in the high half.
    package let extendedHighestSequenceNumber: UInt32
    /// The interarrival jitter.
    package let jitter: Duration
    /// The round trip time; nil where the report answers no sender report.
    package let roundTripTime: Duration?
}

/// Keeps the newest report on a stream and the round trip times of all, under the names of W3C webrtc-stats'
/// `remote-inbound-rtp`.
package struct ReceiverReportTracker: Sendable {
    /// The newest report.
    package private(set) var newest: LossReport?
    /// Reports taken.
    package private(set) var reportsReceived = 0
    /// The sum of the round trip times measured (`totalRoundTripTime`).
    package private(set) var totalRoundTripTime = Duration.zero
    /// How many there are in that sum (`roundTripTimeMeasurements`).
    package private(set) var roundTripTimeMeasurements = 0
    /// The round trip time, which rises smoothed by 1/8 as in RFC 6298 §2, and falls at once: a report that waited somewhere
    /// says nothing of the path. Nil before the first.
    package private(set) var smoothedRoundTripTime: Duration?

    private let clockRate: Int

    /// A tracker of a stream whose clock has `clockRate` Hz.
    package init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Takes a report block that arrived at `arrival`, on the clock that the sender reports are made by.
    @discardableResult
    package mutating func receive(_ block: ReportBlock, arrival: NTPTimestamp) -> LossReport {
        let roundTripTime = block.roundTripTime(at: arrival)
        let report = LossReport(
            fractionLost: Double(block.fractionLost) / 256, packetsLost: Int(block.cumulativeLost),
            extendedHighestSequenceNumber: block.extendedHighestSequenceNumber,
            jitter: .nanoseconds(Int64(block.jitter) * 1_000_000_000 / Int64(clockRate)), roundTripTime: roundTripTime)
        newest = report
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
