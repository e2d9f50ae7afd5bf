internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

extension VideoRTPStream {
    /// Whether a full intra request is a new one; a repeated one carries the same number (RFC 5104 §4.3.1.2).
    mutating func isNew(_ entry: FullIntraRequest.Entry) -> Bool {
        stream.statistics.video.firCount += 1
        defer { lastIntraRequest = entry.sequenceNumber }
        return lastIntraRequest != entry.sequenceNumber
    }

    /// The sender report of this instant. The media clock of pictures runs with the monotonic clock that they are taken
    /// by.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport {
        let timestamp = RTPTimestamp(
            mediaTime: .nanoseconds(now.nanoseconds), clockRate: PacketizedFrame.clockRate,
            offset: stream.timestampOffset)
        return stream.senderReport(timestamp: timestamp, wallclock: wallclock)
    }
}
