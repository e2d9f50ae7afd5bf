internal import RTCShareCongestionControl
internal import RTCShareWireFormat

/// What the path carries, and how it is divided among this side's media.
struct BandwidthControl {
    /// What the path is estimated to carry.
    var estimator: BandwidthEstimator
    var allocator = BitrateAllocator()
    /// A media began, ended or wants another rate since it was divided.
    var isAllocationDue = true
    /// What each media asked for when that was asked last.
    var claims: [BitrateAllocator.Claim?] = []
    /// What it was divided by last.
    var allocated: (target: DataRate, isQueueFull: Bool)?
    /// When a rise that was too small to be told at once is to be told.
    var riseDue: Instant?
    /// The pacer's rates as it was told them.
    var paced: (target: DataRate, pacing: DataRate, padding: DataRate)?
    /// What packets that receivers missed have lately taken.
    private(set) var retransmissionRate = DataRate.zero
    private var retransmitted = (bytes: 0, since: Instant?.none)

    init(_ configuration: PeerConnection.Configuration) {
        var rates = BandwidthEstimator.Configuration()
        rates.start = min(configuration.startBitrate, configuration.maximumBitrate)
        rates.maximum = configuration.maximumBitrate
        rates.minimum = min(rates.minimum, configuration.maximumBitrate)
        estimator = BandwidthEstimator(configuration: rates)
    }

    /// Sets what all media together may take.
    mutating func setMaximum(_ maximum: DataRate, now: Instant) {
        let minimum = BandwidthEstimator.Configuration().minimum
        estimator.setBounds(minimum: min(minimum, maximum), maximum: maximum, now: now)
        isAllocationDue = true
    }

    /// What encoders and their headers may take: what the path carries, but for what is sent again. At least half of it:
    /// what is lost in a storm is no more when its rate is what new pictures go by.
    var mediaRate: DataRate {
        let target = estimator.target.bitsPerSecond
        return .bitsPerSecond(target - min(retransmissionRate.bitsPerSecond, target / 2))
    }

    /// Counts a packet that a receiver missed.
    mutating func countRetransmission(_ byteCount: Int) {
        retransmitted.bytes += byteCount
    }

    /// Measures retransmissions, each second by their mean with the second before.
    mutating func measureRetransmissions(now: Instant) {
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
