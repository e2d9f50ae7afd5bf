/// The statistics of one connection, over time.
struct ConnectionHistory {
    /// The number of the file that has them.
    let file: Int
    /// The sender's number of the viewer, if the file has it.
    let viewer: Int?
    /// The name for people.
    var name: String
    /// The times of the first and the last report, in seconds since 1970.
    var first: Double
    var last: Double
    var streams: [StreamHistory] = []

    /// The two ends of the active candidate pair.
    var path = Steps()
    var iceState = Steps()
    /// Whether its peer has answered: a viewer who was only invited has not.
    var hasJoined: Bool { iceState.names != ["new"] }
    /// The reason why the estimated bitrate is not higher (`bitrateLimitation`).
    var bitrateLimitation = Steps()
    /// The SPEC of the shared source.
    var source = Steps()
    /// `yes` while the share is paused.
    var paused = Steps()
    /// The reason for an interruption of the source; empty if there is none.
    var interruption = Steps()
    /// The estimated bitrate of the route, in kbit/s.
    var available = Series()
    /// The round trip by ICE's checks, in ms.
    var pathRoundTrip = Series()
    /// The delay in the pacer's queue, in ms.
    var queue = Series()
    /// The seconds between reports.
    var intervals = Series()
    /// The number of seconds between two reports above which there is a gap.
    private(set) var longestInterval = 3.0
    /// The times without a report and, below, those in which viewers kept the last frame.
    private(set) var gaps: [TimeSpan] = []
    private(set) var pauses: [TimeSpan] = []

    /// Computes the usual values, after all reports were added.
    mutating func finish() {
        let longest = max(3, 3 * (intervals.median ?? 1))
        longestInterval = longest
        gaps = zip(intervals.times, intervals.values).filter { $1 > longest }.map { TimeSpan(from: $0 - $1, to: $0) }
        pauses = paused.spans(until: last).filter { $0.name == Self.yes }.map { TimeSpan(from: $0.from, to: $0.to) }
        for index in streams.indices { streams[index].finish() }
    }

    /// The name without the viewer's own information.
    var shortName: String {
        guard let viewer, name.hasPrefix("Viewer \(viewer) ") else { return name }
        return "Viewer \(viewer)"
    }

    /// The place of the events, by the short name.
    var place: String { place(of: shortName) }

    /// The place with all information about the viewer.
    var title: String { place(of: name) }

    private func place(of name: String) -> String {
        guard streams.contains(where: \.isSent) else { return streams.isEmpty ? name : "At the viewer" }
        return "To " + (name.hasPrefix("The ") ? "the " + name.dropFirst(4) : name)
    }

    static let yes = "yes"
    static let no = "no"
}
