public import RTCShareWireFormat

/// Packets to send at one rate, to find out whether the path takes it.
public struct ProbeCluster: Hashable, Sendable {
    /// Numbers the clusters of a controller.
    public let identifier: Int
    /// The rate to send at.
    public let rate: DataRate
    /// For how long.
    public let duration: Duration
    /// How many packets make it up at least.
    public let minimumPackets: Int
    /// The time between bursts of its packets, at least.
    public let burstInterval: Duration

    /// How many bytes make it up at least: what the rate carries in the duration.
    public var minimumBytes: Int { rate.bytes(in: duration) }

    /// A cluster of this kind.
    public init(
        identifier: Int, rate: DataRate, duration: Duration = .milliseconds(15), minimumPackets: Int = 5,
        burstInterval: Duration = .milliseconds(2)
    ) {
        self.identifier = identifier
        self.rate = rate
        self.duration = duration
        self.minimumPackets = minimumPackets
        self.burstInterval = burstInterval
    }
}
