package import RTCShareWireFormat

/// The place of an encoding among the layers of a simulcast, which determines its bitrate (RFC 8853).
package struct SimulcastLayer: Sendable, Hashable {
    /// The place, zero for the best layer or a single stream.
    package let index: Int
    /// Whether it is a single stream.
    package let isSingle: Bool

    /// The parts of the wanted bitrate that the layers after the best one have at most, and their highest bitrates: for
    /// viewers with 800 and with 300 kbit/s.
    private static let further: [(share: Double, most: DataRate)] = [
        (0.3, .kilobitsPerSecond(700)), (0.1, .kilobitsPerSecond(250)),
    ]

    /// Creates the place of a single stream.
    package init() { (index, isSingle) = (0, true) }

    /// Creates the layer of this place.
    package init(_ index: Int) { (self.index, isSingle) = (index, false) }

    /// Returns the maximum bitrate, of an encoding whose best layer has `wanted`.
    package func maximumBitrate(of wanted: DataRate) -> DataRate {
        guard index > 0 else { return wanted }
        let (share, most) = Self.further[min(index, Self.further.count) - 1]
        return min(wanted * share, most)
    }

    /// Returns the bitrate of `count` layers together, of which the best one has `wanted`.
    package static func bitrate(ofAll count: Int, wanted: DataRate) -> DataRate {
        (1..<max(count, 1)).reduce(wanted) { $0 + SimulcastLayer($1).maximumBitrate(of: wanted) }
    }
}
