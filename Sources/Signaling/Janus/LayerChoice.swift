internal import RTCSharePeerConnection

/// The layer of a simulcast that a viewer asks a server for, by the losses on its path.
///
///     layer 2 ──▶ layer 1 ──▶ layer 0     many packets of a second are lost
///        ▲           │ ▲          │
///        └───────────┘ └──────────┘       none are lost for a while, which doubles each time that the better layer fails
///
/// The server does not measure the paths to its viewers, and sends the best layer at first. The choice works in virtual time.
struct LayerChoice {
    /// The layer, zero for the lowest.
    private(set) var layer = Self.best
    /// The time of the last change; nil before the first.
    private var changed: Duration?
    /// The time since which no second had losses.
    private var goodSince: Duration?
    /// The time without losses after which each layer is tried again.
    private var patience = [Duration](repeating: Self.leastPatience, count: Self.best + 1)

    /// The best layer that a room can have.
    static let best = 2
    /// The share of lost packets of a second above which a layer is too much for the path.
    private static let largestLoss = 0.1
    /// The share below which a second is good.
    private static let smallestLoss = 0.02
    /// The number of packets of a second below which its share means nothing.
    private static let leastPackets = 5.0
    /// The time after a change in which the packets of the previous layer still arrive.
    private static let settlingTime = Duration.seconds(2)
    private static let leastPatience = Duration.seconds(10)
    private static let largestPatience = Duration.seconds(320)

    /// Records the packets of the last second. Returns the layer to ask for, if it changes.
    ///
    /// Lost packets that a retransmission replaced do not count: a path that carries too little loses retransmissions too.
    mutating func measured(received: Int, lost: Int, now: Duration) -> Int? {
        if let changed, now < changed + Self.settlingTime { return nil }
        let (received, lost) = (Double(max(received, 0)), Double(max(lost, 0)))
        let share = lost == 0 ? 0 : lost / (received + lost)
        if share > Self.largestLoss, received + lost >= Self.leastPackets {
            goodSince = nil
            guard layer > 0 else { return nil }
            if changed != nil { patience[layer] = min(patience[layer] * 2, Self.largestPatience) }
            return change(to: layer - 1, now: now)
        }
        guard share <= Self.smallestLoss else {
            goodSince = nil
            return nil
        }
        let since = goodSince ?? now
        goodSince = since
        // A screen that rests does not show that the path carries more.
        guard layer < Self.best, received >= Self.leastPackets, now >= since + patience[layer + 1] else { return nil }
        return change(to: layer + 1, now: now)
    }

    private mutating func change(to layer: Int, now: Duration) -> Int {
        (self.layer, changed, goodSince) = (layer, now, nil)
        return layer
    }
}

/// The layers of a subscriber's streams, by their `a=mid`.
struct StreamLayers {
    /// A stream with a simulcast.
    private struct Stream {
        var choice = LayerChoice()
        /// The packets that were counted before; nil before the first time.
        var counted: (received: Int, lost: Int)?
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

    /// Chooses the layer of a stream from now on.
    mutating func begin(_ mid: String) {
        if streams[mid] == nil, streams.count < PeerConnection.maximumMedia { streams[mid] = Stream() }
    }

    /// Ends the choice for a stream, until it begins again.
    mutating func end(_ mid: String) { streams[mid] = nil }

    /// Records the counts of a stream each second. Returns the layer to ask for, if it changes.
    ///
    /// - Parameter lost: The lost packets that were not repaired.
    mutating func measured(_ mid: String, received: Int, lost: Int, now: Duration) -> Int? {
        guard let before = streams[mid]?.counted else {
            streams[mid]?.counted = (received, lost)
            return nil
        }
        streams[mid]?.counted = (received, lost)
        return streams[mid]?.choice.measured(received: received - before.received, lost: lost - before.lost, now: now)
    }
}
