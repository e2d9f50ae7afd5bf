package import RTCShareWireFormat

/// The loss of consecutive packets of a stream, according to a report or to requests for packets.
package struct LossSample: Hashable, Sendable {
    /// The fraction lost, 0...1.
    package let fractionLost: Double
    /// The number of packets, lost ones included.
    package let packets: Int
    /// The rate at which packets were sent since the previous report, if that was several seconds ago.
    package var sentRate: DataRate?

    /// Whether the loss is so low that the rate can grow.
    package var isLow: Bool { fractionLost <= SendSideEstimator.lowLoss }
    /// Whether the loss is a reason to decrease the rate.
    package var isHigh: Bool { fractionLost > SendSideEstimator.highLoss }

    package init(fractionLost: Double, packets: Int) {
        self.fractionLost = fractionLost
        self.packets = packets
    }
}
