internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The bandwidth of the path, its allocation to this side's media, and the pacing of their packets.
struct BandwidthControl: ~Copyable {
    /// The estimator of the path's bandwidth.
    var estimator: BandwidthEstimator
    /// The estimator of a TCP connection to the peer, which applies instead; nil for other paths.
    private(set) var stream: StreamBandwidth?
    /// Whether the congestion window of that connection limits the target.
    private let usesStreamWindow: Bool
    /// The queue of packets to send.
    var pacer: Pacer<PacedPacket>
    var allocation = BitrateAllocation()
    /// The next transport-wide sequence number.
    var transportSequenceNumber = TransportSequenceNumber(1)
    /// The sent packets, for the peer's feedback.
    private(set) var sentPackets = TransportFeedbackTracker()
    /// The arrival time of the receiver's latest estimate (REMB).
    private var remoteEstimateArrival: Instant?
    /// The rates that the pacer has.
    private var paced: (target: DataRate, pacing: DataRate, padding: DataRate)?
    /// The recent bitrate of retransmissions.
    private(set) var retransmissionRate = DataRate.zero
    private var retransmitted = (bytes: 0, since: Instant?.none)
    /// The sending time of the first packet without feedback for it or a later one.
    private var unansweredSince: Instant?
    /// Whether feedback has stopped, as last reported.
    private var hasReportedSilence = false

    init(_ configuration: PeerConnection.Configuration) {
        var rates = BandwidthEstimator.Configuration()
        rates.start = min(configuration.startBitrate, configuration.maximumBitrate)
        rates.maximum = configuration.maximumBitrate
        rates.minimum = min(rates.minimum, configuration.maximumBitrate)
        rates.deviations = configuration.congestionDeviations
        usesStreamWindow = configuration.congestionDeviations.contains(.streamWindow)
        estimator = BandwidthEstimator(configuration: rates)
        pacer = Pacer(targetRate: rates.start)
    }

    /// Sets the maximum bitrate of all media together.
    mutating func setMaximum(_ maximum: DataRate, now: Instant) {
        let minimum = BandwidthEstimator.Configuration().minimum
        estimator.setBounds(minimum: min(minimum, maximum), maximum: maximum, now: now)
        stream?.setBounds(minimum: min(minimum, maximum), maximum: maximum)
        allocation.isDue = true
    }

    /// The bitrate that media and retransmissions together can use.
    var target: DataRate {
        guard let stream else { return estimator.target }
        return estimator.remoteLimit.map { max(min(stream.target, $0), estimator.minimum) } ?? stream.target
    }

    /// The rate at which a large frame is sent. TCP sends as fast as it can, which is all that the path carries.
    var pacingRate: DataRate { stream == nil ? estimator.pacingRate : target * BandwidthEstimator.pacingFactor }

    /// The reason why the target is not higher.
    var limitation: BandwidthEstimator.Limitation {
        guard let stream else { return estimator.limitation }
        if stream.target > target { return .remote }
        return stream.target >= estimator.maximum ? .maximum : .delay
    }

    /// The bitrate for encoders and their headers: the target minus retransmissions, but at least half of the target.
    /// During a burst of loss, retransmissions must not use the rate of new frames.
    var mediaRate: DataRate {
        let target = target.bitsPerSecond
        return .bitsPerSecond(target - min(retransmissionRate.bitsPerSecond, target / 2))
    }

    // Reports from the peer.

    mutating func receive(_ report: TransportFeedback, now: Instant) {
        unansweredSince = nil
        estimator.receive(sentPackets.receive(report), now: now)
    }

    /// Handles any message from the peer. If no packet was sent for some time, the peer has no more feedback to send.
    mutating func peerSpoke(now: Instant) {
        guard let lastSent = estimator.lastSent, isUnanswered(since: lastSent, now: now) else { return }
        unansweredSince = nil
    }

    mutating func receive(_ estimate: ReceiverEstimatedMaximumBitrate, now: Instant) {
        remoteEstimateArrival = now
        estimator.setRemoteEstimate(estimate.bitrate, now: now)
    }

    // Sent packets.

    /// Records a sent packet of `size` bytes in total. `before` is the next transport-wide number before the packet was
    /// written. A packet without a number leaves it unchanged.
    mutating func packetSent(before: TransportSequenceNumber, size: Int, now: Instant) {
        let number = transportSequenceNumber == before ? nil : before
        if let number {
            sentPackets.packetSent(number, size: size, now: now)
            if unansweredSince == nil, sentPackets.feedbackReceived > 0 { unansweredSince = now }
        }
        estimator.packetSent(number: number, size: size, cluster: pacer.cluster, now: now)
    }

    /// Resets the state for another path, which may be a TCP connection to the peer.
    mutating func pathChanged(isStream: Bool, now: Instant) {
        sentPackets.forget()
        unansweredSince = nil
        estimator.pathChanged(now: now)
        stream =
            isStream
            ? StreamBandwidth(
                start: estimator.start, minimum: estimator.minimum, maximum: estimator.maximum,
                usesWindow: usesStreamWindow) : nil
        pacer.setQueueTime(isStream ? Self.streamQueueTime : nil)
        allocation.isDue = true
    }

    /// Handles a report of the TCP connection to the peer.
    mutating func receive(_ progress: StreamProgress, now: Instant) {
        stream?.receive(progress, now: now)
    }

    /// The maximum time that packets wait for a TCP connection. It retransmits by itself, which delays everything.
    private static let streamQueueTime = Duration.milliseconds(120)

    /// Whether feedback for sent packets is so late that the peer has missed some of them. The loss of a single packet
    /// before a pause looks the same.
    func isUnanswered(now: Instant) -> Bool {
        unansweredSince.map { isUnanswered(since: $0, now: now) } ?? false
    }

    private func isUnanswered(since time: Instant, now: Instant) -> Bool {
        guard now - time > Self.longestSilence else { return false }
        return now - time > Self.longestSilence + (estimator.feedbackRoundTrip ?? .zero)
    }

    /// Returns ``isUnanswered(now:)`` if it has changed since the last call.
    mutating func silenceChange(now: Instant) -> Bool? {
        let isSilent = isUnanswered(now: now)
        guard isSilent != hasReportedSilence else { return nil }
        hasReportedSilence = isSilent
        return isSilent
    }

    /// The lifetime of a receiver's estimate: three times the five seconds after which Janus repeats it. Others repeat
    /// it each second.
    private static let remoteEstimateAge = Duration.seconds(15)
    /// The time without feedback that counts as silence: five times the interval of feedback on the slowest usable
    /// path.
    private static let longestSilence = Duration.milliseconds(500)

    /// Counts a retransmission.
    mutating func countRetransmission(_ byteCount: Int) {
        retransmitted.bytes += byteCount
    }

    // Timeouts.

    /// Whether the estimator is due.
    func isDue(now: Instant) -> Bool {
        estimator.nextDeadline.map { $0 <= now } ?? false
    }

    /// Processes the estimator. `roundTripTime` is a measurement for peers whose reports contain none.
    mutating func process(roundTripTime: Duration?, now: Instant) {
        if let arrival = remoteEstimateArrival, now - arrival > Self.remoteEstimateAge {
            remoteEstimateArrival = nil
            estimator.setRemoteEstimate(nil, now: now)
        }
        if let roundTripTime { estimator.setRoundTripTime(roundTripTime, now: now) }
        estimator.process(now: now)
        measureRetransmissions(now: now)
    }

    /// Passes the estimator's probes and rates to the pacer. Returns whether the rates have changed. Without
    /// transport-wide numbers, probes and padding would have no effect.
    mutating func pace(isNumbering: Bool, now: Instant) -> Bool {
        // The peer receives everything that TCP has accepted, in order: padding would only delay it.
        let mayProbe = isNumbering && stream == nil
        while let cluster = estimator.pollProbe() {
            if mayProbe { pacer.enqueue(cluster, now: now) }
        }
        let (target, pacing) = (target, pacingRate)
        let padding = mayProbe ? estimator.paddingRate : .zero
        if let paced, paced == (target, pacing, padding) { return false }
        paced = (target, pacing, padding)
        pacer.setRates(target: target, pacing: pacing, padding: padding, now: now)
        return true
    }

    /// Measures the bitrate of retransmissions each second, averaged with the second before.
    private mutating func measureRetransmissions(now: Instant) {
        guard let since = retransmitted.since else {
            retransmitted.since = now
            return
        }
        guard now - since >= .seconds(1) else { return }
        let rate = DataRate(byteCount: retransmitted.bytes, over: now - since)
        retransmitted = (0, now)
        let mean = DataRate.bitsPerSecond((rate.bitsPerSecond + retransmissionRate.bitsPerSecond) / 2)
        retransmissionRate = mean < .kilobitsPerSecond(1) ? .zero : mean
    }
}
