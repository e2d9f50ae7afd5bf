package import RTCShareRTP
package import RTCShareWireFormat

/// The loss that a receiver's requests for packets (RFC 4585 §6.2.1) show, for receivers whose reports are rare.
///
/// GStreamer requests lost packets within 35 ms, but reports every four to nine seconds, or not at all while it requests
/// packets. Without transport-wide feedback nothing else shows that a route has become narrow. Requests can contain late
/// packets: if the next report shows far fewer losses, requests do not count any more. They can also omit most lost
/// packets, so that little loss must not let the rate grow: GStreamer requests one packet of a key frame, and then another
/// key frame. If that repeats, nothing arrives whole.
///
/// Source: none in libwebrtc, whose receivers report every second.
package struct RequestedLoss: Sendable {
    /// The maximum interval of reports that need no other source: those of each second are up to 1.5 s apart (RFC 3550
    /// §6.3.1).
    static let longestInterval = Duration.milliseconds(1750)
    /// The minimum duration of a sample, unless it has ``samplePackets``. A single burst of losses is not congestion.
    static let sampleTime = Duration.seconds(1)
    static let samplePackets = 100
    /// The number of requests for key frames, each soon after the former, from which none of these was complete.
    static let keyFrameRepetitions = 3
    static let keyFrameRepetitionTime = Duration.milliseconds(700)
    /// The number of requested packets from which a report shows whether they were lost.
    private static let comparedPackets = 10

    private var lastReport: (time: Instant, bytesSent: UInt64)?
    /// Whether the interval between the two latest reports was too long although packets were requested in it.
    private var isReportRare = false
    private var lastRequest: Instant?
    /// The time of the first request since the latest report, or since a pause of requests.
    private var requestedSince: Instant?
    /// The number of requested packets since the latest report.
    private var requested = 0
    /// Whether the packets in earlier requests were lost, according to reports.
    private var areRequestsTrue = true
    /// The newest packet that a request or a report covers.
    private var newest: SequenceNumber?
    /// The next sample.
    private var sample: (begin: Instant, lost: Int, packets: Int)?
    /// The latest request for a key frame, and the number of those sent before it.
    private var keyFrameRequest: (time: Instant, sent: UInt64)?
    /// The number of requests for another key frame soon after one was requested and sent.
    private var keyFrameRepetitions = 0

    /// Creates a tracker of a stream without requests.
    package init() {}

    /// Processes a request for a key frame after `sent` key frames.
    package mutating func receiveKeyFrameRequest(sent: UInt64, now: Instant) {
        guard sent != keyFrameRequest?.sent else { return }
        let isSoon = keyFrameRequest.map { now - $0.time <= Self.keyFrameRepetitionTime } ?? false
        keyFrameRepetitions = isSoon ? keyFrameRepetitions + 1 : 0
        keyFrameRequest = (now, sent)
    }

    /// Processes a request for packets. Returns the loss since the previous sample, if reports do not show it.
    ///
    /// - Parameters:
    /// - lost: The packets in the request, the oldest first.
    /// - newestSent: The newest packet of the stream. Newer ones in the request are ignored.
    /// - now: The arrival time of the request.
    package mutating func receive(
        _ lost: some Sequence<SequenceNumber>, newestSent: SequenceNumber, now: Instant
    ) -> LossSample? {
        // After half of all numbers without a request, the newest one seems to be in the future.
        if let newest, newest.isNewer(than: newestSent) { self.newest = nil }
        if let lastRequest, now - lastRequest > Self.longestInterval { (sample, requestedSince) = (nil, nil) }
        lastRequest = now
        let before = newest
        var count = 0
        for number in lost where !number.isNewer(than: newestSent) && newest.map(number.isNewer) ?? true {
            newest = number
            count += 1
        }
        guard let before, let newest, count > 0 else { return nil }
        requested += count
        let since = requestedSince ?? now
        requestedSince = since
        var sample = sample ?? (now, 0, 0)
        sample.lost += count
        sample.packets += newest.distance(from: before)
        self.sample = sample
        guard now - sample.begin >= Self.sampleTime || sample.packets >= Self.samplePackets else { return nil }
        self.sample = nil
        let isBroken = keyFrameRepetitions >= Self.keyFrameRepetitions
        if isBroken { keyFrameRepetitions = 0 }
        let fraction = isBroken ? 1 : Double(sample.lost) / Double(sample.packets)
        guard areRequestsTrue, isReportRare || now - since > Self.longestInterval else { return nil }
        return LossSample(fractionLost: fraction, packets: sample.packets)
    }

    /// Excludes the packets up to `newest`. They were sent at a rate that has been decreased since, so their loss says
    /// nothing about the new rate.
    package mutating func skip(to newest: SequenceNumber) {
        (self.newest, sample) = (newest, nil)
    }

    /// Processes a report about `packets` packets. `bytesSent` is the number of bytes on the route so far.
    package mutating func receive(_ report: LossReport, packets: Int, bytesSent: UInt64, now: Instant) -> LossSample {
        var sample = LossSample(fractionLost: report.fractionLost, packets: packets)
        let wasRare = isReportRare
        let interval = lastReport.map { now - $0.time } ?? .zero
        isReportRare = interval > Self.longestInterval && requested > 0
        if wasRare, isReportRare, let lastReport {
            let bytes = Int(clamping: bytesSent &- lastReport.bytesSent)
            sample.sentRate = DataRate(byteCount: bytes, over: interval)
        }
        if requested >= Self.comparedPackets, packets > 0 {
            areRequestsTrue = report.fractionLost * Double(packets) * 2 >= Double(requested)
        }
        (lastReport, requestedSince, requested, self.sample) = ((now, bytesSent), nil, 0, nil)
        let highest = SequenceNumber(UInt16(truncatingIfNeeded: report.extendedHighestSequenceNumber))
        if newest.map(highest.isNewer) ?? true { newest = highest }
        return sample
    }
}
