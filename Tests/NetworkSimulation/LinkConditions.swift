package import RTCShareWireFormat

/// The conditions of a link.
package struct LinkConditions: Hashable, Sendable {
    /// The fraction of lost packets, 0...1.
    package var loss: Double
    /// The delay of an undisturbed packet.
    package var delay: Duration
    /// The maximum addition to `delay`, uniformly distributed. By itself, jitter does not reorder packets.
    package var jitter: Duration
    /// The fraction of packets that are delayed by `reorderingDelay`, so that later ones overtake them, 0...1.
    package var reordering: Double
    /// The additional delay of a reordered packet.
    package var reorderingDelay: Duration
    /// The fraction of packets that arrive twice, 0...1.
    package var duplication: Double
    /// The bottleneck's capacity; nil for no bottleneck.
    package var rate: DataRate?
    /// The maximum number of bytes that wait before the bottleneck; a packet that does not fit is dropped.
    package var queueLimit: Int
    /// The maximum wait before the bottleneck; a packet that would wait longer is dropped.
    package var queueTimeLimit: Duration

    /// Creates conditions, by default of a perfect link.
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
