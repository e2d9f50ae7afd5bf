internal import RTCShareWireFormat

/// How fast a large picture may leave: up to twice as fast as large pictures were seen to arrive.
///
/// What a screen shares is still, and then all of it changes. The rate of the stream is bounded by what its user allows,
/// and says nothing of a path that carries far more: at 2.5 times the rate a page of text takes a fifth of a second on the
/// way that a local network carries in a tenth of that. So each part of a picture is looked at as a probe: how long its
/// packets took to leave, and how long they took to arrive. A page that begins slowly is faster before its end.
///
///     arrived as fast as it left      what follows may leave twice as fast
///     arrived more slowly             the path is full at that rate: what follows leaves a little slower than that, and
///                                     after a while a little faster, for a receiver that is busy looks like that, too
///     packets were lost               as at the beginning: nil
///
/// Source: libwebrtc's `goog_cc/probe_bitrate_estimator` for how a cluster of packets is measured; that media are the
/// cluster, and that nothing follows for the estimate, is our own.
struct BurstRate: Sendable {
    /// A picture of fewer packets proves nothing.
    static let leastPackets = 8
    /// One of fewer can arrive slowly for other reasons than a full path.
    static let leastPacketsOfFull = 16
    /// Packets that left further apart than this are of two pictures.
    static let longestGap = Duration.milliseconds(20)
    /// What has more packets is looked at in parts; a film's pictures may follow each other without a gap, too.
    static let mostPackets = 32
    /// As far as so much time tells more than when the receiver happened to look.
    static let leastTrain = Duration.milliseconds(10)
    /// How long a measurement is held to be true.
    static let lifetime = Duration.seconds(120)
    /// What is tried beyond what is known.
    private static let growth = 2.0
    /// A picture that takes longer to arrive by more than this has filled the path.
    private static let saturationRatio = 0.9
    /// What is used of a path that was filled, and for how long; what is tried then beyond what is known, and up to how far
    /// beyond what filled the path.
    private static let utilization = 0.85
    static let patience = Duration.seconds(2)
    private static let carefulGrowth = 1.25
    private static let carefulShare = 1.5
    /// A picture that arrives this much faster than it left was held up on its way, and measures nothing.
    private static let largestRatio = 2.0
    /// The share of a picture's packets that may be lost.
    private static let largestLoss = 0.05

    fileprivate struct Train: Sendable {
        let firstSent: Instant
        var lastSent: Instant
        var arrivals: (first: Duration, last: Duration)?
        var firstArrivedSize = 0
        var lastSize = 0
        var bytes = 0
        var packets = 0
        var lost = 0
    }

    private var train: Train?
    private var known: (rate: DataRate, at: Instant)?
    /// What arrived of a picture that filled the path.
    private var full: (rate: DataRate, at: Instant)?

    /// The rate that large pictures may leave at; nil where nothing is known.
    func rate(now: Instant) -> DataRate? {
        guard let known, now - known.at < Self.lifetime else { return nil }
        return known.rate
    }

    /// Takes what became of packets.
    mutating func receive(_ results: [TransportFeedbackTracker.PacketResult], now: Instant) {
        for result in results.isSorted(by: Self.isEarlier) ? results : results.sorted(by: Self.isEarlier) {
            if let train, result.sent - train.lastSent > Self.longestGap || train.isLong {
                evaluate(train, now: now)
                self.train = nil
            }
            var train = train ?? Train(firstSent: result.sent, lastSent: result.sent)
            train.add(result)
            self.train = train
        }
    }

    private static func isEarlier(
        _ left: TransportFeedbackTracker.PacketResult, _ right: TransportFeedbackTracker.PacketResult
    ) -> Bool {
        right.number.isNewer(than: left.number)
    }

    private mutating func evaluate(_ train: Train, now: Instant) {
        guard train.packets >= Self.leastPackets else { return }
        guard Double(train.lost) <= Double(train.packets) * Self.largestLoss else { return known = nil }
        guard let (sent, arrived) = train.rates, arrived <= sent * Self.largestRatio else { return }
        if arrived < sent * Self.saturationRatio {
            guard train.packets >= Self.leastPacketsOfFull else { return }
            full = (arrived, now)
            known = (arrived * Self.utilization, now)
            return
        }
        let proven = min(sent, arrived)
        var growth = Self.growth
        if let full, now - full.at < Self.lifetime, proven < full.rate * Self.carefulShare {
            guard now - full.at >= Self.patience else { return }
            growth = Self.carefulGrowth
        }
        // What left slowly proves nothing against a higher rate.
        if let rate = rate(now: now), rate > proven * growth { return }
        known = (proven * growth, now)
    }
}

extension BurstRate.Train {
    fileprivate mutating func add(_ packet: TransportFeedbackTracker.PacketResult) {
        packets += 1
        guard let arrival = packet.arrival else {
            lost += 1
            return
        }
        bytes += packet.size
        if packet.sent >= lastSent {
            lastSent = packet.sent
            lastSize = packet.size
        }
        guard let (first, last) = arrivals else {
            arrivals = (arrival, arrival)
            firstArrivedSize = packet.size
            return
        }
        if arrival < first { firstArrivedSize = packet.size }
        arrivals = (min(first, arrival), max(last, arrival))
    }

    fileprivate var isLong: Bool {
        packets >= BurstRate.mostPackets && lastSent - firstSent >= BurstRate.leastTrain
    }

    /// How fast it left and arrived; nil where that took no time.
    fileprivate var rates: (sent: DataRate, arrived: DataRate)? {
        guard let arrivals, lastSent > firstSent, arrivals.last > arrivals.first else { return nil }
        // The times leave out how long the last packet took to leave and the first to arrive.
        return (
            DataRate(byteCount: bytes - lastSize, over: lastSent - firstSent),
            DataRate(byteCount: bytes - firstArrivedSize, over: arrivals.last - arrivals.first)
        )
    }
}
