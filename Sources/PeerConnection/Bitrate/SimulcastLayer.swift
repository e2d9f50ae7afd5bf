package import RTCShareWireFormat

/// The place of an encoding among the layers of a simulcast, which determines its bitrates (RFC 8853).
package struct SimulcastLayer: Sendable, Hashable {
    /// The place, zero for the best layer or a single stream.
    package var index = 0
    /// The number of layers.
    package var count = 1

    /// The parts of the wanted bitrate that the layers after the best one have at most, and their highest bitrates: for
    /// viewers with 800 and with 300 kbit/s. Each has less than half of the one before, so that it is encoded by itself.
    private static let further: [(share: Double, most: DataRate)] = [
        (0.3, .kilobitsPerSecond(700)), (0.1, .kilobitsPerSecond(250)),
    ]

    /// Creates the layer of a single stream, or of this place.
    package init(index: Int = 0, count: Int = 1) {
        self.index = index
        self.count = count
    }

    /// Returns the maximum bitrate, of an encoding whose best layer has `wanted`.
    package func maximumBitrate(of wanted: DataRate) -> DataRate {
        guard index > 0 else { return wanted }
        let (share, most) = Self.further[min(index, Self.further.count) - 1]
        return min(wanted * share, most)
    }

    /// Returns the bitrate below which it is not worth sending, because the next layer is as good; zero for the last.
    package func minimumBitrate(of wanted: DataRate) -> DataRate {
        guard index + 1 < count else { return .zero }
        return SimulcastLayer(index: index + 1, count: count).maximumBitrate(of: wanted)
    }

    /// Returns the bitrate of `count` layers together, of which the best one has `wanted`.
    package static func bitrate(ofAll count: Int, wanted: DataRate) -> DataRate {
        (1..<max(count, 1)).reduce(wanted) { $0 + SimulcastLayer(index: $1, count: count).maximumBitrate(of: wanted) }
    }
}
