package import RTCShareWireFormat

/// A group of packets that are sent at one rate, to test whether the path carries it.
package struct ProbeCluster: Hashable, Sendable {
    /// The number of the cluster within its controller.
    package let identifier: Int
    /// The rate to send at.
    package let rate: DataRate
    /// The duration of sending.
    package let duration: Duration
    /// The minimum number of packets.
    package let minimumPackets: Int
    /// The minimum time between bursts of packets.
    package let burstInterval: Duration

    /// The minimum number of bytes: what the rate carries in the duration.
    package var minimumBytes: Int { rate.bytes(in: duration) }

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
