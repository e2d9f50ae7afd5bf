/// Where the controller differs from draft-ietf-rmcat-gcc-02 and libwebrtc, each with a switch: what is not contained is
/// done as there. The article of this module tells what each is worth.
package struct Deviations: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// While loss does not bind, the delay-based estimate counts at once, not with the next interval of 250 ms.
    package static let promptDelay = Deviations(rawValue: 1 << 0)
    /// The congestion window lowers the rate, not the encoder's frame rate alone.
    package static let window = Deviations(rawValue: 1 << 1)
    /// While more is under way than the window holds, the estimate is held to what has just arrived.
    package static let arrivalsBound = Deviations(rawValue: 1 << 2)
    /// A cut starts from what has just arrived where that is more than the mean over a second.
    package static let burstCut = Deviations(rawValue: 1 << 3)
    /// Large pictures leave as fast as the path was seen to carry them.
    package static let burstRate = Deviations(rawValue: 1 << 4)
    /// By receiver reports alone the rate grows by half each second until the first loss or queue.
    package static let reportGrowth = Deviations(rawValue: 1 << 5)
    /// The delay-based estimate falls while feedback or the network is away, and a probe follows once it is back.
    package static let returnProbe = Deviations(rawValue: 1 << 6)
    /// A path that proved wider than when it was last full is probed every two seconds.
    package static let capacitySearch = Deviations(rawValue: 1 << 7)
    /// Time alone, without a packet, shows that the application is the limit.
    package static let silentLimit = Deviations(rawValue: 1 << 8)
    /// Growth near the capacity is three times as fast.
    package static let fastGrowth = Deviations(rawValue: 1 << 9)
    /// The delay-based estimate is cut only where packets were seen to wait.
    package static let queueCut = Deviations(rawValue: 1 << 10)
    /// What a path loses without a queue is not taken for congestion.
    package static let backgroundLoss = Deviations(rawValue: 1 << 11)
    /// Beside flows that fill the queue the rate is what TCP would send.
    package static let competingRate = Deviations(rawValue: 1 << 12)
    /// What was given up at a burst of somebody else is taken back.
    package static let foreignBurst = Deviations(rawValue: 1 << 13)
    /// Loss is met by forward error correction, a playout delay and repeated retransmissions (``LossPolicy``).
    package static let lossPolicy = Deviations(rawValue: 1 << 14)

    /// The names that benchmarks have for them, in the order of the article.
    package static let named: KeyValuePairs<String, Deviations> = [
        "prompt-delay": .promptDelay, "window": .window, "arrivals-bound": .arrivalsBound,
        "burst-cut": .burstCut, "burst-rate": .burstRate, "report-growth": .reportGrowth,
        "return-probe": .returnProbe, "capacity-search": .capacitySearch,
        "silent-limit": .silentLimit, "fast-growth": .fastGrowth, "queue-cut": .queueCut,
        "background-loss": .backgroundLoss, "competing-rate": .competingRate, "foreign-burst": .foreignBurst,
        "loss-policy": .lossPolicy,
    ]

    /// All of them.
    package static let all = Deviations(named.map(\.value))

    /// All but those of these names, where `all` is every one; nil where there is none of a name.
    package init?(without names: [String]) {
        var left = Deviations.all
        for name in names {
            if name == "all" {
                left = []
            } else if let named = Self.named.first(where: { $0.key == name }) {
                left.remove(named.value)
            } else {
                return nil
            }
        }
        self = left
    }
}
