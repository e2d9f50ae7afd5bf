/// What was counted of one connection, over time.
struct ConnectionHistory {
    /// Which of the files tells of it.
    let file: Int
    /// The sender's number of the viewer, where it says one.
    let viewer: Int?
    /// What a person calls it.
    var name: String
    /// When it was first and last reported, in seconds since 1970.
    var first: Double
    var last: Double
    var streams: [StreamHistory] = []

    /// The two ends of the pair of candidates in use.
    var path = Steps()
    var iceState = Steps()
    /// Whether its peer has answered: a viewer who was only invited has not.
    var hasJoined: Bool { iceState.names != ["new"] }
    /// Why the path's estimate is not more (`bitrateLimitation`).
    var bitrateLimitation = Steps()
    /// The SPEC of what is shared.
    var source = Steps()
    /// `yes` while the share is paused.
    var paused = Steps()
    /// Why the source gives nothing; empty while it does.
    var interruption = Steps()
    /// What the path is taken to carry, in kbit/s.
    var available = Series()
    /// By ICE's checks, in ms.
    var pathRoundTrip = Series()
    /// What waits in the pacer, in ms.
    var queue = Series()
    /// The seconds between reports.
    var intervals = Series()
    /// More than so many seconds between two reports are a gap.
    private(set) var longestInterval = 3.0
    /// Times without a report, and those in which viewers kept the last picture.
    private(set) var gaps: [TimeSpan] = []
    private(set) var pauses: [TimeSpan] = []

    /// Takes note of what is usual, once all reports are there.
    mutating func finish() {
        let longest = max(3, 3 * (intervals.median ?? 1))
        longestInterval = longest
        gaps = zip(intervals.times, intervals.values).filter { $1 > longest }.map { TimeSpan(from: $0 - $1, to: $0) }
        pauses = paused.spans(until: last).filter { $0.name == Self.yes }.map { TimeSpan(from: $0.from, to: $0.to) }
        for index in streams.indices { streams[index].finish() }
    }

    /// The name without what the viewer says of itself.
    var shortName: String {
        guard let viewer, name.hasPrefix("Viewer \(viewer) ") else { return name }
        return "Viewer \(viewer)"
    }

    /// Where what it tells of was seen.
    var place: String { place(of: shortName) }

    /// The same with all that is known of the viewer.
    var title: String { place(of: name) }

    private func place(of name: String) -> String {
        guard streams.contains(where: \.isSent) else { return streams.isEmpty ? name : "At the viewer" }
        return "To " + (name.hasPrefix("The ") ? "the " + name.dropFirst(4) : name)
    }

    static let yes = "yes"
    static let no = "no"
}

/// What was counted of one stream of RTP, over time.
struct StreamHistory {
    /// What is measured, each in its own unit.
    enum Measure: Hashable, CaseIterable {
        /// kbit/s, headers included.
        case rate, repeated, target
        /// A second.
        case frames, sourceFrames, framesDropped
        /// Pixels.
        case width, height, sourceWidth, sourceHeight
        /// Percent of the packets.
        case loss, resent
        /// Messages since the report before.
        case nacks, pictureLossIndications, fullIntraRequests
        /// Milliseconds.
        case roundTrip, jitter, sendDelay, codingTime, bufferDelay
        /// 0 to 127.
        case quantizer
        /// Since the report before.
        case keyFrames, drifts, freezes, resolutionChanges
        /// Milliseconds of freezes and seconds of pauses that ended since the report before.
        case frozen, paused
        /// Percent of the samples.
        case concealed
    }

    /// Unique within its connection.
    let id: String
    let isSent: Bool
    let isVideo: Bool
    /// The synchronization sources that it has had.
    var sources = Recent<Int>()
    var series: [Measure: Series] = [:]
    /// Why pictures are smaller or fewer (`qualityLimitationReason`).
    var qualityLimitation = Steps()
    /// How often its counts began anew.
    var resets = 0
    /// The medians, once all reports are there.
    private(set) var usual: [Measure: Double] = [:]

    mutating func finish() { usual = series.compactMapValues(\.median) }

    subscript(_ measure: Measure) -> Series { series[measure] ?? Series() }

    /// The sum of a measure within a time.
    func sum(_ measure: Measure, from: Double, to: Double) -> Double {
        self[measure].values(from: from, to: to).reduce(0, +)
    }

    /// The largest of a measure within a time.
    func largest(_ measure: Measure, from: Double, to: Double) -> Double? {
        self[measure].values(from: from, to: to).max()
    }

    /// What a person calls it.
    var name: String { "\(isVideo ? "Video" : "Audio") \(isSent ? "sent" : "received")" }
}
