package import RTCShareWireFormat

/// Packets to send at one rate, to find out whether the path takes it.
package struct ProbeCluster: Hashable, Sendable {
    /// Numbers the clusters of a controller.
    package let identifier: Int
    /// The rate to send at.
    package let rate: DataRate
    /// For how long.
    package let duration: Duration
    /// How many packets make it up at least.
    package let minimumPackets: Int
    /// The time between bursts of its packets, at least.
    package let burstInterval: Duration

    /// How many bytes make it up at least: what the rate carries in the duration.
    package var minimumBytes: Int { rate.bytes(in: duration) }

    /// A cluster of this kind.
    package init(
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
