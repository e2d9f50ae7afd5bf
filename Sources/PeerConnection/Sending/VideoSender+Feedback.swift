internal import CongestionControl
internal import RTP
internal import WireFormat

extension VideoSender {
    /// Takes what a report block says of this sender's packets.
    mutating func take(_ block: ReportBlock, at now: NTPTimestamp) {
        isSourceKnown = true
        _ = reports.receive(block, arrival: now)
    }

    /// Whether a full intra request is a new one; a repeated one carries the same number (RFC 5104 §4.3.1.2).
    mutating func isNew(_ entry: FullIntraRequest.Entry) -> Bool {
        statistics.firCount += 1
        defer { lastIntraRequest = entry.sequenceNumber }
        return lastIntraRequest != entry.sequenceNumber
    }

    /// The sender report of this instant (RFC 3550 §6.4.1).
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport {
        SenderReport(
            source: parameters.source, ntpTimestamp: wallclock, rtpTimestamp: timestamp(at: now),
            packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent),
            octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent))
    }
}
