/// The statistics of one RTP stream, over time.
struct StreamHistory {
    /// A measurement, with its unit.
    enum Measure: Hashable, CaseIterable {
        /// In kbit/s, headers included.
        case rate, repeated, target
        /// Per second.
        case frames, sourceFrames, framesDropped
        /// In pixels.
        case width, height, sourceWidth, sourceHeight
        /// In percent of the packets.
        case loss, resent
        /// The number of messages since the report before.
        case nacks, pictureLossIndications, fullIntraRequests
        /// In milliseconds.
        case roundTrip, jitter, sendDelay, codingTime, bufferDelay
        /// From 0 to 127.
        case quantizer
        /// The number since the report before.
        case keyFrames, drifts, freezes, resolutionChanges
        /// The milliseconds of freezes and the seconds of pauses that ended since the report before.
        case frozen, paused
        /// In percent of the samples.
        case concealed
    }

    /// The id, unique within its connection.
    let id: String
    let isSent: Bool
    let isVideo: Bool
    /// The synchronization sources that it has had.
    var sources = Recent<Int>()
    var series: [Measure: Series] = [:]
    /// The reason why frames are smaller or fewer (`qualityLimitationReason`).
    var qualityLimitation = Steps()
    /// The number of times that its counts were reset.
    var resets = 0
    /// The medians, after all reports were added.
    private(set) var usual: [Measure: Double] = [:]

    mutating func finish() { usual = series.compactMapValues(\.median) }

    subscript(_ measure: Measure) -> Series { series[measure] ?? Series() }

    /// Returns the sum of a measurement within a time.
    func sum(_ measure: Measure, from: Double, to: Double) -> Double {
        self[measure].values(from: from, to: to).reduce(0, +)
    }

    /// Returns the maximum of a measurement within a time.
    func largest(_ measure: Measure, from: Double, to: Double) -> Double? {
        self[measure].values(from: from, to: to).max()
    }

    /// The name for people.
    var name: String { "\(isVideo ? "Video" : "Audio") \(isSent ? "sent" : "received")" }
}
