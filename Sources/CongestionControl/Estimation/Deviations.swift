internal import RTCShareWireFormat

/// The deviations of the controller from draft-ietf-rmcat-gcc-02 and libwebrtc. Each has a switch: a deviation that the
/// set does not contain is inactive. The article of this module shows the effect of each.
package struct Deviations: NamedOptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// While loss does not limit the rate, the delay-based estimate applies immediately instead of at the next interval
    /// of 250 ms.
    package static let promptDelay = Deviations(rawValue: 1 << 0)
    /// The congestion window reduces the rate, not only the encoder's frame rate.
    package static let window = Deviations(rawValue: 1 << 1)
    /// While more bytes are in flight than the window allows, the recent arrival rate limits the estimate.
    package static let arrivalsBound = Deviations(rawValue: 1 << 2)
    /// A decrease starts from the recent arrival rate if that is higher than the average over a second.
    package static let burstCut = Deviations(rawValue: 1 << 3)
    /// Large frames are sent as fast as the path is known to carry them.
    package static let burstRate = Deviations(rawValue: 1 << 4)
    /// With receiver reports only, the rate grows by half each second until the first loss or queue.
    package static let reportGrowth = Deviations(rawValue: 1 << 5)
    /// The delay-based estimate decreases while feedback or the network is missing, and a probe follows when it
    /// returns.
    package static let returnProbe = Deviations(rawValue: 1 << 6)
    /// A path that carries more than when it was last full is probed every two seconds.
    package static let capacitySearch = Deviations(rawValue: 1 << 7)
    /// Time without packets is enough to detect that the application limits the rate.
    package static let silentLimit = Deviations(rawValue: 1 << 8)
    /// The growth near the capacity is three times as fast.
    package static let fastGrowth = Deviations(rawValue: 1 << 9)
    /// The delay-based estimate decreases only if packets waited in a queue.
    package static let queueCut = Deviations(rawValue: 1 << 10)
    /// The loss of a path without a queue does not count as congestion.
    package static let backgroundLoss = Deviations(rawValue: 1 << 11)
    /// Next to flows that fill the queue, the rate is that of TCP.
    package static let competingRate = Deviations(rawValue: 1 << 12)
    /// A decrease that a burst of other traffic caused is undone.
    package static let foreignBurst = Deviations(rawValue: 1 << 13)
    /// Loss is met by forward error correction, a playout delay and repeated retransmissions (``LossPolicy``).
    package static let lossPolicy = Deviations(rawValue: 1 << 14)
    /// The congestion window of a TCP connection to the peer limits the target (``StreamBandwidth``).
    package static let streamWindow = Deviations(rawValue: 1 << 15)
    /// The receiver's requests show loss while its reports are rare (``RequestedLoss``).
    package static let requestedLoss = Deviations(rawValue: 1 << 16)

    /// The names of the deviations in benchmarks, in the order of the article.
    package static let named: KeyValuePairs<String, Deviations> = [
        "prompt-delay": .promptDelay, "window": .window, "arrivals-bound": .arrivalsBound,
        "burst-cut": .burstCut, "burst-rate": .burstRate, "report-growth": .reportGrowth,
        "return-probe": .returnProbe, "capacity-search": .capacitySearch,
        "silent-limit": .silentLimit, "fast-growth": .fastGrowth, "queue-cut": .queueCut,
        "background-loss": .backgroundLoss, "competing-rate": .competingRate, "foreign-burst": .foreignBurst,
        "loss-policy": .lossPolicy, "stream-window": .streamWindow,
        "requested-loss": .requestedLoss,
    ]
}
