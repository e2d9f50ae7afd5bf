internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// What the path carries, how it is divided among this side's media, and when their packets leave.
struct BandwidthControl: ~Copyable {
    /// What the path is estimated to carry.
    var estimator: BandwidthEstimator
    /// The packets that wait for their time.
    var pacer: Pacer<PacedPacket>
    var allocation = BitrateAllocation()
    /// The number of the next packet that has one.
    var transportSequenceNumber = TransportSequenceNumber(1)
    /// What has left, for the peer's feedback.
    private(set) var sentPackets = TransportFeedbackTracker()
    /// When the receiver last said what it can take altogether (REMB).
    private var remoteEstimateArrival: Instant?
    /// The pacer's rates as it was told them.
    private var paced: (target: DataRate, pacing: DataRate, padding: DataRate)?
    /// What packets that receivers missed have lately taken.
    private(set) var retransmissionRate = DataRate.zero
    private var retransmitted = (bytes: 0, since: Instant?.none)
    /// When the first packet left of which nothing is known yet, nor of a later one.
    private var unansweredSince: Instant?
    /// Whether feedback has stopped, as it was told last.
    private var hasReportedSilence = false

    init(_ configuration: PeerConnection.Configuration) {
        var rates = BandwidthEstimator.Configuration()
        rates.start = min(configuration.startBitrate, configuration.maximumBitrate)
        rates.maximum = configuration.maximumBitrate
        rates.minimum = min(rates.minimum, configuration.maximumBitrate)
        rates.deviations = configuration.congestionDeviations
        estimator = BandwidthEstimator(configuration: rates)
        pacer = Pacer(targetRate: rates.start)
    }

    /// Sets what all media together may take.
    mutating func setMaximum(_ maximum: DataRate, now: Instant) {
        let minimum = BandwidthEstimator.Configuration().minimum
        estimator.setBounds(minimum: min(minimum, maximum), maximum: maximum, now: now)
        allocation.isDue = true
    }

    /// What encoders and their headers may take: what the path carries, but for what is sent again. At least half of it:
    /// what is lost in a storm is no more when its rate is what new pictures go by.
    var mediaRate: DataRate {
        let target = estimator.target.bitsPerSecond
        return .bitsPerSecond(target - min(retransmissionRate.bitsPerSecond, target / 2))
    }

    // What the peer says.

    mutating func receive(_ report: TransportFeedback, now: Instant) {
        unansweredSince = nil
        estimator.receive(sentPackets.receive(report), now: now)
    }

    /// The peer says anything at all. Where nothing has left for so long, it has nothing more to say of what left.
    mutating func peerSpoke(now: Instant) {
        guard let lastSent = estimator.lastSent, isUnanswered(since: lastSent, now: now) else { return }
        unansweredSince = nil
    }

    mutating func receive(_ estimate: ReceiverEstimatedMaximumBitrate, now: Instant) {
        remoteEstimateArrival = now
        estimator.setRemoteEstimate(estimate.bitrate, now: now)
    }

    // What leaves.

    /// Takes note of a packet that leaves, with all that is around it of `size` bytes. `before`: the number of the next one
    /// when it was written, which a packet that has none leaves as it is.
    mutating func packetSent(before: TransportSequenceNumber, size: Int, now: Instant) {
        let number = transportSequenceNumber == before ? nil : before
        if let number {
            sentPackets.packetSent(number, size: size, now: now)
            if unansweredSince == nil, sentPackets.feedbackReceived > 0 { unansweredSince = now }
        }
        estimator.packetSent(number: number, size: size, cluster: pacer.cluster, now: now)
    }

    /// Packets take another path from now on.
    mutating func pathChanged(now: Instant) {
        sentPackets.forget()
        unansweredSince = nil
        estimator.pathChanged(now: now)
    }

    /// Whether nothing was heard of what left for so long that the peer has missed some of it. Of a single packet, before all
    /// rested, its loss looks the same.
    func isUnanswered(now: Instant) -> Bool {
        unansweredSince.map { isUnanswered(since: $0, now: now) } ?? false
    }

    private func isUnanswered(since time: Instant, now: Instant) -> Bool {
        guard now - time > Self.longestSilence else { return false }
        return now - time > Self.longestSilence + (estimator.feedbackRoundTrip ?? .zero)
    }

    /// ``isUnanswered(now:)``, where it has become another since this was asked last.
    mutating func silenceChange(now: Instant) -> Bool? {
        let isSilent = isUnanswered(now: now)
        guard isSilent != hasReportedSilence else { return nil }
        hasReportedSilence = isSilent
        return isSilent
    }

    /// How long what a receiver said says anything: three times the five seconds in which Janus repeats it, as others do each
    /// second.
    private static let remoteEstimateAge = Duration.seconds(15)
    /// Five times what feedback takes between two, on the slowest path that a screen is watched over.
    private static let longestSilence = Duration.milliseconds(500)

    /// Counts a packet that a receiver missed.
    mutating func countRetransmission(_ byteCount: Int) {
        retransmitted.bytes += byteCount
    }

    // As time passes.

    /// Whether the estimator has something to do.
    func isDue(now: Instant) -> Bool {
        estimator.nextDeadline.map { $0 <= now } ?? false
    }

    /// Does what is due in the estimator. `roundTripTime`: where the peer's reports have not told it.
    mutating func process(roundTripTime: Duration?, now: Instant) {
        if let arrival = remoteEstimateArrival, now - arrival > Self.remoteEstimateAge {
            remoteEstimateArrival = nil
            estimator.setRemoteEstimate(nil, now: now)
        }
        if let roundTripTime { estimator.setRoundTripTime(roundTripTime, now: now) }
        estimator.process(now: now)
        measureRetransmissions(now: now)
    }

    /// Passes the estimator's probes and rates on to the pacer; whether the rates have changed. Where packets have no
    /// numbers, nothing would come of probes and padding.
    mutating func pace(isNumbering: Bool, now: Instant) -> Bool {
        while let cluster = estimator.pollProbe() {
            if isNumbering { pacer.enqueue(cluster, now: now) }
        }
        let target = estimator.target
        let pacing = estimator.pacingRate
        let padding = isNumbering ? estimator.paddingRate : .zero
        if let paced, paced == (target, pacing, padding) { return false }
        paced = (target, pacing, padding)
        pacer.setRates(target: target, pacing: pacing, padding: padding, now: now)
        return true
    }

    /// Measures retransmissions, each second by their mean with the second before.
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
