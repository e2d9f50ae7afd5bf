internal import FoundationEssentials

/// The rates of a share in the last minutes, one sample a second.
struct ShareHistory {
    struct Sample: Codable, Hashable, Sendable {
        let time: Date
        /// The total outgoing bitrate in kbit/s.
        let bitrate: Double
        let framesPerSecond: Double
        /// The longest round trip to a viewer in seconds; nil if none is known.
        var roundTripTime: Double?
        /// The highest fraction of packets that a viewer reports as lost; nil if none is known.
        var fractionLost: Double?
        /// The number of connected viewers who were admitted.
        let viewers: Int
    }

    private(set) var samples: [Sample] = []

    /// The number of kept samples.
    static let most = 300

    mutating func add(_ sample: Sample) { samples = samples.suffix(Self.most - 1) + [sample] }
}

extension ShareHistory.Sample {
    /// Creates the sample of the last second's rates.
    init(_ rates: ShareRates, viewers: Int, at time: Date) {
        self.init(
            time: time, bitrate: rates.bitsPerSecond / 1000, framesPerSecond: rates.framesPerSecond,
            roundTripTime: rates.viewers.values.compactMap(\.roundTripTime).max(),
            fractionLost: rates.viewers.values.compactMap(\.fractionLost).max(), viewers: viewers)
    }
}
