package import RTCShareWireFormat

/// What a link does to the packets that cross it.
package struct LinkConditions: Hashable, Sendable {
    /// The share of packets that vanish, 0...1.
    package var loss: Double
    /// How long an undisturbed packet is under way.
    package var delay: Duration
    /// The most that is added to `delay`, evenly spread. Jitter alone reorders nothing.
    package var jitter: Duration
    /// The share of packets held back by `reorderingDelay`, so that later ones overtake them, 0...1.
    package var reordering: Double
    /// How long a reordered packet is held back.
    package var reorderingDelay: Duration
    /// The share of packets that arrive twice, 0...1.
    package var duplication: Double
    /// What the bottleneck carries; nil for no bottleneck.
    package var rate: DataRate?
    /// The bytes that wait before the bottleneck; a packet that does not fit is dropped.
    package var queueLimit: Int
    /// The longest wait before the bottleneck; a packet that would wait longer is dropped.
    package var queueTimeLimit: Duration

    /// Conditions; a perfect link where nothing is said.
    package init(
        loss: Double = 0, delay: Duration = .zero, jitter: Duration = .zero, reordering: Double = 0,
        reorderingDelay: Duration = .milliseconds(15), duplication: Double = 0, rate: DataRate? = nil,
        queueLimit: Int = .max, queueTimeLimit: Duration = .seconds(3600)
    ) {
        self.loss = loss
        self.delay = delay
        self.jitter = jitter
        self.reordering = reordering
        self.reorderingDelay = reorderingDelay
        self.duplication = duplication
        self.rate = rate
        self.queueLimit = queueLimit
        self.queueTimeLimit = queueTimeLimit
    }
}
