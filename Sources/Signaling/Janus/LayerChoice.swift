internal import RTCSharePeerConnection

/// The layer of a simulcast that a viewer asks a server for, by the losses and the bandwidth of its path.
///
///     layer 0 ──▶ layer 1 ──▶ layer 2     no packets are lost, and the path carries more than the layer uses; after each
///        ▲           │ ▲          │       failure of the better layer, it is tried later
///        └───────────┘ └──────────┘       many packets of a second are lost
///
/// The server does not measure the paths to its viewers. It sends the packets of a frame at once, so that the time in
/// which they arrive shows the bandwidth of the path, even if the layer uses only a small part of that. The lowest layer
/// is the first: the best one can fill a slow path so that not even the request for another one arrives. The choice works
/// in virtual time.
struct LayerChoice {
    /// The layer, zero for the lowest.
    private(set) var layer: Int
    /// The last change; nil before the first.
    private var change: (isRise: Bool, time: Duration)?
    /// The time at which the layer arrived; nil while the server sends the previous one.
    private var arrival: Duration?
    /// The time since which no second had losses.
    private var goodSince: Duration?
    /// The number of failures of each layer.
    private var failures = [Int](repeating: 0, count: Self.best + 1)
    /// The bitrates that the layers had.
    private var rates = [Double](repeating: 0, count: Self.best + 1)
    /// The ratios of the bandwidth to the next lower layer's bitrate from which the layers are tried.
    private var ratios = [Double](repeating: Self.usefulRatios.next, count: Self.best + 1)
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
    private static let shortPatience = Duration.seconds(1)
    private static let leastPatience = Duration.seconds(10)
    private static let largestPatience = Duration.seconds(320)
    /// The ratio of the bandwidth to the layer's bitrate from which the next layer, and the one after that, is tried. Each
    /// has about three times the bitrate of the one before. A layer that failed has shown its own ratio.
    private static let usefulRatios = (next: 2.0, second: 8.0)

    /// Creates a choice that begins with the layer that the server sends.
    init(layer: Int = 0) { self.layer = min(max(layer, 0), Self.best) }

    /// Records that the server sends a layer from now on.
    mutating func arrived(_ layer: Int, now: Duration) {
        guard change != nil else {
            // Janus begins with the layer whose key frame is the first, and then changes to the requested one.
            if layer != self.layer { self = LayerChoice(layer: layer) }
            return
        }
        guard layer == self.layer, arrival == nil else { return }
        (arrival, goodSince) = (now, nil)
    }

    /// Records the counts of the last second. Returns the layer to ask for, if it changes.
    mutating func measured(_ second: LayerCounts, now: Duration) -> Int? {
        let isAwaited = change.map { arrival == nil && now < $0.time + Self.longestArrival } ?? false
        let isRise = change?.isRise ?? true
        let changed = arrival ?? change?.time
        if !isRise && isAwaited || changed.map({ now < $0 + Self.settlingTime }) ?? false { return nil }
        // Retransmissions replace packets that a path with random losses loses. A full path loses these, too.
        let isTrial = change != nil && isRise && changed.map { now < $0 + Self.trialTime } ?? false
        let received = Double(max(second.packetsReceived, 0))
        let lost = Double(max(second.packetsLost - (isTrial ? 0 : second.packetsRepaired), 0))
        let share = lost == 0 ? 0 : lost / (received + lost)
        if share > Self.largestLoss, received + lost >= Self.leastPackets {
            goodSince = nil
            guard layer > 0 else { return nil }
            bandwidth.overload(second)
            return fall(from: received > 0 ? second.bits * (1 + lost / received) : 0, now: now)
        }
        guard share <= Self.smallestLoss else {
            goodSince = nil
            return nil
        }
        if received >= Self.leastPackets {
            bandwidth.measure(second)
            if !isAwaited { rates[layer] = max(rates[layer] * 0.9, second.bits) }
        }
        let since = goodSince ?? now
        goodSince = since
        guard !isAwaited, let next = next(isActive: received >= Self.leastPackets, since: since, now: now) else {
            return nil
        }
        return change(to: next, now: now)
    }

    /// Returns the better layer to try; nil for none. A screen that rests does not show that the path carries more.
    private func next(isActive: Bool, since: Duration, now: Duration) -> Int? {
        guard layer < Self.best else { return nil }
        let failures = failures[layer + 1]
        guard isActive || failures == 0 else { return nil }
        let usual = min(Self.leastPatience * (1 << min(failures, 5)), Self.largestPatience)
        guard let bandwidth = bandwidth.bitsPerSecond, rates[layer] > 0 else {
            return now >= since + usual ? layer + 1 : nil
        }
        let isUseful = bandwidth >= rates[layer] * ratios[layer + 1]
        let patience = !isUseful ? Self.largestPatience : failures == 0 ? Self.shortPatience : usual
        guard now >= since + patience else { return nil }
        let second = min(layer + 2, Self.best)
        let isSecondUseful = bandwidth >= rates[layer] * Self.usefulRatios.second && self.failures[second] == 0
        return isSecondUseful ? second : layer + 1
    }

    /// Changes from a layer with this bitrate to the best lower one that the path carries, as far as that is known.
    private mutating func fall(from rate: Double, now: Duration) -> Int {
        let isProven = change.map { now >= (arrival ?? $0.time) + Self.provingTime } ?? false
        if rates[layer - 1] > 0 {
            let former = isProven ? Self.usefulRatios.next : ratios[layer]
            ratios[layer] = max(rate / rates[layer - 1], former)
        }
        failures[layer] = isProven ? 1 : failures[layer] + 1
        let most = bandwidth.bitsPerSecond ?? .infinity
        return change(to: (0..<layer).last { rates[$0] <= most } ?? 0, now: now)
    }

    private mutating func change(to layer: Int, now: Duration) -> Int {
        change = (isRise: layer > self.layer, time: now)
        (self.layer, arrival, goodSince, rates[layer]) = (layer, nil, nil, 0)
        return layer
    }
}

/// The bandwidth of a path, by the time in which the packets of frames arrive.
private struct PathBandwidth {
    private var packets = 0.0
    private var bits = 0.0
    private var time = 0.0

    /// The part of the former measurements that remains after each.
    private static let remainder = 0.8
    /// The number of packets after the first ones of their frames that are sufficient.
    private static let leastPackets = 3.0

    /// Nil while it is unknown.
    var bitsPerSecond: Double? { packets >= Self.leastPackets && time > 0 ? bits / time : nil }

    /// Records a second. With lost packets, the time of a frame is that of its retransmissions.
    mutating func measure(_ second: LayerCounts) {
        let following = second.packetsReceived - second.framesReceived
        guard second.packetsLost == 0, second.framesReceived >= 0, following > 0, second.assemblyTime > .zero
        else { return }
        packets = packets * Self.remainder + Double(following)
        bits = bits * Self.remainder + second.bits * Double(following) / Double(second.packetsReceived)
        time = time * Self.remainder + second.assemblyTime / .seconds(1)
    }

    /// Records a second in which the path carried all that it can.
    mutating func overload(_ second: LayerCounts) {
        (packets, bits, time) = (Self.leastPackets, second.bits, 1)
    }
}

/// The counts of a stream, since its start or of a second.
struct LayerCounts {
    var packetsReceived = 0
    var packetsLost = 0
    /// The lost packets that a retransmission replaced.
    var packetsRepaired = 0
    var framesReceived = 0
    var bytesReceived = 0
    /// The total time between the first and the last packet of each frame.
    var assemblyTime = Duration.zero

    fileprivate var bits: Double { Double(max(bytesReceived, 0)) * 8 }

    static func - (left: LayerCounts, right: LayerCounts) -> LayerCounts {
        LayerCounts(
            packetsReceived: left.packetsReceived - right.packetsReceived,
            packetsLost: left.packetsLost - right.packetsLost,
            packetsRepaired: left.packetsRepaired - right.packetsRepaired,
            framesReceived: left.framesReceived - right.framesReceived,
            bytesReceived: left.bytesReceived - right.bytesReceived,
            assemblyTime: left.assemblyTime - right.assemblyTime)
    }
}

extension LayerCounts {
    init(_ stream: InboundRTPStreamStats) {
        self.init(
            packetsReceived: stream.packetsReceived, packetsLost: stream.packetsLost,
            packetsRepaired: stream.video?.packetsRepaired ?? 0, framesReceived: stream.framesReceived ?? 0,
            bytesReceived: stream.bytesReceived, assemblyTime: stream.video?.totalAssemblyTime ?? .zero)
    }
}

/// The layers of a subscriber's streams, by their `a=mid`.
struct StreamLayers {
    /// A stream with a simulcast.
    private struct Stream {
        var choice: LayerChoice
        /// The counts of a second ago; nil before the first time.
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

    /// Records the counts of a stream each second. Returns the layer to ask for, if it changes.
    mutating func measured(_ mid: String, _ counts: LayerCounts, now: Duration) -> Int? {
        guard let before = streams[mid]?.counted else {
            streams[mid]?.counted = counts
            return nil
        }
        streams[mid]?.counted = counts
        return streams[mid]?.choice.measured(counts - before, now: now)
    }
}
