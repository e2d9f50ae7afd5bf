internal import RTCShareWireFormat

/// The rate at which a large frame can be sent: up to twice the rate at which large frames arrived.
///
/// A shared screen is often unchanged, and then all of it changes. The user's maximum limits the rate of the stream,
/// which does not show that a path can carry far more. At 2.5 times that rate a page of text takes a fifth of a second,
/// but a local network carries it in a tenth of that. So each part of a frame serves as a probe, which compares the
/// time of sending with the time of arrival. A page that starts slowly accelerates before its end.
///
///     arrived as fast as it was sent    the next part can be sent twice as fast
///     arrived more slowly               the path is full at that rate: the next parts are sent a little more slowly,
///                                       and after a while a little faster, since a busy receiver has the same effect
///     packets were lost                 the rate is unknown again (nil)
///
/// Source: libwebrtc's `goog_cc/probe_bitrate_estimator` for the measurement of a cluster of packets. The use of media
/// as the cluster, without an effect on the estimate, is our own.
struct BurstRate: Sendable {
    /// The minimum number of packets that measures anything.
    static let leastPackets = 8
    /// The minimum number of packets that shows a full path. Fewer can arrive slowly for other reasons.
    static let leastPacketsOfFull = 16
    /// The maximum gap between sent packets of one frame.
    static let longestGap = Duration.milliseconds(20)
    /// The number of packets after which a frame is split into parts. A video's frames can also follow each other
    /// without a gap.
    static let mostPackets = 32
    /// The minimum duration of a train, below which the times only reflect when the receiver read its packets.
    static let leastTrain = Duration.milliseconds(10)
    /// The lifetime of a measurement.
    static let lifetime = Duration.seconds(120)
    /// The factor on the measured rate that is tried next.
    private static let growth = 2.0
    /// The ratio of arrival rate to sending rate below which a frame has filled the path.
    private static let saturationRatio = 0.9
    /// The fraction of a full path's rate that is used, and the time for which it is used. After that, the careful
    /// factors apply: the factor on the measured rate, and its limit relative to the rate that filled the path.
    private static let utilization = 0.85
    static let patience = Duration.seconds(2)
    private static let carefulGrowth = 1.25
    private static let carefulShare = 1.5
    /// The ratio of arrival rate to sending rate above which a frame was delayed on the path, and measures nothing.
    private static let largestRatio = 2.0
    /// The maximum fraction of lost packets.
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
    /// The arrival rate of a frame that filled the path.
    private var full: (rate: DataRate, at: Instant)?

    /// Returns the rate at which large frames can be sent; nil if unknown.
    func rate(now: Instant) -> DataRate? {
        guard let known, now - known.at < Self.lifetime else { return nil }
        return known.rate
    }

    /// Processes the results of packets.
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
        // A frame that was sent slowly does not disprove a higher rate.
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

    /// The rates of sending and arrival; nil if either took no time.
    fileprivate var rates: (sent: DataRate, arrived: DataRate)? {
        guard let arrivals, lastSent > firstSent, arrivals.last > arrivals.first else { return nil }
        // The times exclude the sending of the last packet and the arrival of the first.
        return (
            DataRate(byteCount: bytes - lastSize, over: lastSent - firstSent),
            DataRate(byteCount: bytes - firstArrivedSize, over: arrivals.last - arrivals.first)
        )
    }
}
