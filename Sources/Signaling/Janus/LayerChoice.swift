internal import RTCSharePeerConnection

/// The layer of a simulcast that a viewer asks a server for, by the losses and the bandwidth of its path.
///
///     layer 0 ──▶ layer 1 ──▶ layer 2     no packets are lost, and the path carries more than the layer uses; after each
///        ▲           │ ▲          │       failure of the better layer, it is tried later
///        └───────────┘ └──────────┘       many packets of a second are lost, or some while the path is slow
///
/// The server does not measure the paths to its viewers. The time in which the first packets of a large frame arrive
/// shows a bandwidth that the path has, even if the layer uses only a small part of that. The path can have more: the
/// publisher's pacing and upload limit the measured bandwidth, too. The lowest layer is the first: the best one can fill
/// a slow path so that not even the request for another one arrives. The choice works in virtual time.
struct LayerChoice {
    /// The layer, zero for the lowest.
    private(set) var layer: Int
    /// The last change; nil before the first.
    private var change: (isRise: Bool, time: Duration)?
    /// The time at which the layer arrived; nil while the server sends the previous one.
    private var arrival: Duration?
    /// The layer that the server sent last; nil before the first.
    private var sent: Int?
    /// The time without losses that counts for a better layer; nil after a second with losses.
    private var goodTime: Duration?
    /// The time with packets and without losses since the layer arrived.
    private var provenTime = Duration.zero
    /// The number of failures of each layer.
    private var failures = [Int](repeating: 0, count: Self.best + 1)
    /// The bitrates that the layers had.
    private var rates = [Double](repeating: 0, count: Self.best + 1)
    /// The bitrates at which the layers failed last; zero for the others.
    private var failedRates = [Double](repeating: 0, count: Self.best + 1)
    private var bandwidth = PathBandwidth()

    /// The best layer that a room can have.
    static let best = 2
    /// The share of lost packets of a second above which a layer is too much for the path.
    private static let largestLoss = 0.1
    /// The share below which a second is good.
    private static let smallestLoss = 0.02
    /// The number of packets of a second below which its share means nothing.
    private static let leastPackets = 5.0
    /// The time after the arrival of a layer in which its key frame, and packets of the previous one, fill the path.
    private static let settlingTime = Duration.seconds(1)
    /// The maximum time for which the arrival of a layer is awaited.
    private static let longestArrival = Duration.seconds(4)
    /// The time after the arrival of a better layer in which repaired losses count, too: the path is full.
    private static let trialTime = Duration.seconds(5)
    /// The time for which a layer must have been received so that its former failures are forgotten.
    private static let provingTime = Duration.seconds(60)
    /// The times without losses after which the next layer is tried: if the path carries it, and if that is unknown.
    private static let shortPatience = Duration.seconds(3)
    private static let leastPatience = Duration.seconds(10)
    private static let largestPatience = Duration.seconds(320)
    /// The part of a layer's highest bitrate of a second that counts in the next one: a screen that rests can change.
    private static let rateRemainder = 0.99
    /// The ratio of the bandwidth to the layer's bitrate from which the next layer, and the one after that, is tried. Each
    /// has about three times the bitrate of the one before.
    private static let usefulRatios = (next: 2.5, second: 8.0)
    /// The ratio below which a layer that is tried is left after the first losses.
    private static let leastRatios = (next: 2.0, second: 6.0)

    /// Creates a choice that begins with the layer that the server sends.
    init(layer: Int = 0) { self.layer = min(max(layer, 0), Self.best) }

    /// Records that the server sends a layer from now on.
    mutating func arrived(_ layer: Int, now: Duration) {
        defer { sent = layer }
        guard change != nil else {
            // Janus begins with the layer whose key frame is the first, and then changes to the requested one.
            if layer != self.layer { self = LayerChoice(layer: layer) }
            return
        }
        guard layer == self.layer, arrival == nil else { return }
        (arrival, goodTime, provenTime) = (now, nil, .zero)
    }

    /// Records the counts of about a second. Returns the layer to ask for, if it changes.
    mutating func measured(_ second: LayerCounts, now: Duration) -> Int? {
        let isAwaited = change.map { arrival == nil && now < $0.time + Self.longestArrival } ?? false
        let isRise = change?.isRise ?? true
        let changed = arrival ?? change?.time
        let isTrial = change != nil && isRise && changed.map { now < $0 + Self.trialTime } ?? false
        // Packets of a better layer that was left are not this layer's.
        if isRise || !isAwaited { bandwidth.measure(second, now: now) }
        // Waiting for more losses would fill the path for seconds.
        if isTrial, second.packetsLost > 0, second.trainByteCount > 0, let former = tooMuchAfter(now: now) {
            bandwidth.limit(failures: failures[layer], now: now)
            countFailure()
            return change(to: former, now: now)
        }
        if !isRise && isAwaited || changed.map({ now < $0 + Self.settlingTime }) ?? false { return nil }
        // Retransmissions replace packets that a path with random losses loses. A full path loses these, too.
        let received = Double(max(second.packetsReceived, 0))
        let lost = Double(max(second.packetsLost - (isTrial ? 0 : second.packetsRepaired), 0))
        let share = lost == 0 ? 0 : lost / (received + lost)
        if share > Self.largestLoss, received + lost >= Self.leastPackets {
            goodTime = nil
            guard layer > 0 else { return nil }
            bandwidth.overload(second, failures: failures[layer], now: now)
            return fall(from: received > 0 ? second.bitrate * (1 + lost / received) : 0, now: now)
        }
        guard share <= Self.smallestLoss else {
            goodTime = nil
            return nil
        }
        let isActive = received >= Self.leastPackets
        if isActive {
            provenTime += second.time
            if !isAwaited { rates[layer] = max(rates[layer] * Self.rateRemainder, second.bitrate) }
        }
        // A screen that rests has some packets in each second, but does not show that the path carries more. During an
        // outage of the path, there are none.
        guard layer < Self.best, isActive || received > 0 && failures[layer + 1] == 0 else { return nil }
        let time = goodTime.map { $0 + second.time } ?? .zero
        goodTime = time
        guard !isAwaited, let next = next(after: time, now: now) else { return nil }
        return change(to: next, now: now)
    }

    /// Returns the better layer to try after so much time without losses; nil for none.
    private func next(after time: Duration, now: Duration) -> Int? {
        let failures = failures[layer + 1]
        let usual = min(Self.leastPatience * (1 << min(failures, 5)), Self.largestPatience)
        guard let bandwidth = bandwidth.bitsPerSecond(now: now), rates[layer] > 0 else {
            return time >= usual ? layer + 1 : nil
        }
        let isUseful = bandwidth >= max(rates[layer] * Self.usefulRatios.next, failedRates[layer + 1])
        let patience = !isUseful ? Self.largestPatience : failures == 0 ? Self.shortPatience : usual
        guard time >= patience else { return nil }
        let second = min(layer + 2, Self.best)
        let isSecondUseful = bandwidth >= rates[layer] * Self.usefulRatios.second && self.failures[second] == 0
        return isSecondUseful ? second : layer + 1
    }

    /// Returns the layer before the one that is tried, if the path is too slow for that.
    private func tooMuchAfter(now: Duration) -> Int? {
        guard let bandwidth = bandwidth.bitsPerSecond(now: now), let former = (0..<layer).last(where: { rates[$0] > 0 })
        else { return nil }
        let ratio = layer == former + 1 ? Self.leastRatios.next : Self.leastRatios.second
        return bandwidth < rates[former] * ratio ? former : nil
    }

    /// Changes from a layer with this bitrate to the best lower one that the path carries, as far as that is known.
    private mutating func fall(from rate: Double, now: Duration) -> Int {
        if rate > 0 { failedRates[layer] = rate }
        countFailure()
        let most = bandwidth.bitsPerSecond(now: now) ?? .infinity
        return change(to: (0..<layer).last { rates[$0] <= most } ?? 0, now: now)
    }

    private mutating func countFailure() {
        failures[layer] = provenTime >= Self.provingTime ? 1 : failures[layer] + 1
    }

    private mutating func change(to layer: Int, now: Duration) -> Int {
        change = (isRise: layer > self.layer, time: now)
        // A server that sends this layer already does not report it.
        (self.layer, arrival) = (layer, sent == layer ? now : nil)
        (goodTime, provenTime, rates[layer]) = (nil, .zero, 0)
        return layer
    }
}

/// A bandwidth that a path has, by the time in which packet trains arrive.
private struct PathBandwidth {
    private var bits = 0.0
    private var time = 0.0
    /// The time from which the measurements are outdated.
    private var end = Duration.zero

    /// The time after a measurement for which it is used. While a screen rests, there is none.
    private static let lifetime = Duration.seconds(300)
    /// The time after a failure for which its measurement is used, doubled by each former failure of the layer, since
    /// something else may have disturbed the path.
    private static let overloadTime = Duration.seconds(30)
    private static let mostDoublings = 3
    /// The part of the former measurements that remains after each.
    private static let remainder = 0.8
    /// The bits of an overload, those of a train.
    private static let overloadBits = 40_000.0
    /// The time that a measurement takes at least, since arrivals are not exact.
    private static let leastTime = 0.000_1

    /// Returns the bandwidth; nil while it is unknown.
    func bitsPerSecond(now: Duration) -> Double? {
        now < end && time > 0 ? bits / time : nil
    }

    /// Records a second.
    mutating func measure(_ second: LayerCounts, now: Duration) {
        guard second.trainByteCount > 0 else { return }
        if now >= end { self = PathBandwidth() }
        end = now + Self.lifetime
        bits = bits * Self.remainder + Double(second.trainByteCount) * 8
        time = time * Self.remainder + max(second.trainDuration / .seconds(1), Self.leastTime)
    }

    /// Records a second in which the path carried all that it can, of a layer with so many failures before.
    mutating func overload(_ second: LayerCounts, failures: Int, now: Duration) {
        guard second.bitrate > 0 else { return end = .zero }
        (bits, time) = (Self.overloadBits, Self.overloadBits / second.bitrate)
        limit(failures: failures, now: now)
    }

    /// Uses the newest measurement for a shorter time, because a layer with so many failures before has failed by it.
    mutating func limit(failures: Int, now: Duration) {
        end = now + Self.overloadTime * (1 << min(failures, Self.mostDoublings))
    }
}

/// The counts of a stream, since its start or of about a second.
struct LayerCounts {
    /// The length of the time. Counts since the start have the time at which they were read.
    var time = Duration.seconds(1)
    var packetsReceived = 0
    var packetsLost = 0
    /// The lost packets that a retransmission replaced.
    var packetsRepaired = 0
    var bytesReceived = 0
    /// The bytes of packet trains (``PacketTrains``), and the time in which they arrived.
    var trainByteCount = 0
    var trainDuration = Duration.zero

    fileprivate var bits: Double { Double(max(bytesReceived, 0)) * 8 }
    /// The bits per second.
    fileprivate var bitrate: Double { bits / (time / .seconds(1)) }

    static func - (left: LayerCounts, right: LayerCounts) -> LayerCounts {
        LayerCounts(
            time: left.time - right.time, packetsReceived: left.packetsReceived - right.packetsReceived,
            packetsLost: left.packetsLost - right.packetsLost,
            packetsRepaired: left.packetsRepaired - right.packetsRepaired,
            bytesReceived: left.bytesReceived - right.bytesReceived,
            trainByteCount: left.trainByteCount - right.trainByteCount,
            trainDuration: left.trainDuration - right.trainDuration)
    }
}

extension LayerCounts {
    init(_ stream: InboundRTPStreamStats) {
        self.init(
            packetsReceived: stream.packetsReceived, packetsLost: stream.packetsLost,
            packetsRepaired: stream.video?.packetsRepaired ?? 0, bytesReceived: stream.bytesReceived,
            trainByteCount: stream.video?.trainByteCount ?? 0, trainDuration: stream.video?.trainDuration ?? .zero)
    }
}

/// The layers of a subscriber's streams, by their `a=mid`.
struct StreamLayers {
    /// A stream with a simulcast.
    private struct Stream {
        var choice: LayerChoice
        /// The counts of about a second ago; nil before the first time.
        var counted: LayerCounts?
    }

    private var streams: [String: Stream] = [:]
    /// The publishers of all streams.
    private var feeds: [String: JanusID] = [:]

    /// Sets the publishers of all streams. The choice for a stream that gets another publisher restarts.
    mutating func update(_ reported: [JanusRoomReport.Stream]) {
        var feeds: [String: JanusID] = [:]
        for stream in reported { if let mid = stream.mid { feeds[mid] = stream.feedID } }
        streams = streams.filter { feeds[$0.key] == self.feeds[$0.key] }
        self.feeds = feeds
    }

    /// Records the layer that the server sends of a stream from now on, and chooses it from the first one on.
    mutating func arrived(_ layer: Int, of mid: String, now: Duration) {
        if streams[mid] == nil, streams.count < PeerConnection.maximumMedia {
            streams[mid] = Stream(choice: LayerChoice(layer: layer))
        }
        streams[mid]?.choice.arrived(layer, now: now)
    }

    /// Ends the choice for a stream, until a layer arrives.
    mutating func end(_ mid: String) { streams[mid] = nil }

    /// Records the counts of a stream about each second. Returns the layer to ask for, if it changes.
    mutating func measured(_ mid: String, _ counts: LayerCounts, now: Duration) -> Int? {
        var counts = counts
        counts.time = now
        guard let before = streams[mid]?.counted else {
            streams[mid]?.counted = counts
            return nil
        }
        streams[mid]?.counted = counts
        return streams[mid]?.choice.measured(counts - before, now: now)
    }
}
