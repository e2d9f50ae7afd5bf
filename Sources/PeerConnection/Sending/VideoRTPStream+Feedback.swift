internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

extension VideoRTPStream {
    /// Whether a full intra request is new. A repeated one has the same number (RFC 5104 §4.3.1.2).
    mutating func isNew(_ entry: FullIntraRequest.Entry) -> Bool {
        stream.statistics.video.firCount += 1
        defer { lastIntraRequest = entry.sequenceNumber }
        return lastIntraRequest != entry.sequenceNumber
    }

    /// Returns the current sender report. The media clock of video runs with the monotonic clock of its capture times.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport {
        let timestamp = RTPTimestamp(
            mediaTime: .nanoseconds(now.nanoseconds), clockRate: PacketizedFrame.clockRate,
            offset: stream.timestampOffset)
        return stream.senderReport(timestamp: timestamp, wallclock: wallclock)
    }
}
