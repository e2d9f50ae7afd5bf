internal import RTCShareNetworkSimulation

/// Both processes at a moment of a soak.
struct SoakSample: Codable {
    /// Seconds from the start.
    let time: Double
    /// Connections of the room, those to viewers who vanished included, and those of them that have a port of their own.
    let connections: Int
    let ownPorts: Int
    /// Viewers, and the paths of these and of those who left lately.
    let viewers: Int
    let paths: Int
    let sharing: ProcessCensus
    let viewing: ProcessCensus
    /// Since the start.
    let framesSent: Int
    let picturesSeen: Int
    /// Seconds of processor time that sharing has taken since the start.
    let processorTime: Double
}

/// Both processes when everybody had left and the share was back at what it began with.
struct SoakEbb: Codable {
    let time: Double
    let sharing: ProcessCensus
    let viewing: ProcessCensus
    /// Connections and sessions of the sharing process that were still in memory.
    let leftBehind: Int
}

/// All that was seen of a soak.
struct SoakRecord {
    var samples: [SoakSample] = []
    var ebbs: [SoakEbb] = []
    var failures: [SoakWatch.Failure] = []
    var actions: [String: Int] = [:]
}

/// One of the figures that must not grow, over time.
struct SoakSeries {
    enum Process: String, CaseIterable {
        case sharing
        case viewing
    }

    enum Kind {
        case memory
        case count
    }

    struct Point {
        let time: Double
        let value: Double
        /// What it hangs on beside time.
        let other: Double
    }

    let process: Process
    let name: String
    let kind: Kind
    let points: [Point]

    /// The least that memory may grow by in the time of the fit, in bytes, and as a share of what there is.
    private static let memoryLimit = 2.0 * 1024 * 1024
    private static let memoryShare = 0.01
    /// What a count may: what grows by one is something left behind.
    private static let countLimit = 0.5
    /// Seconds of a run from which lines are judged: before that memory and the pools of threads have not settled.
    private static let settledTime = 600.0

    /// Those of both processes: while everything changes, and of memory also when everybody had left.
    static func all(of record: SoakRecord) -> [SoakSeries] {
        let parts: [(name: String, kind: Kind, value: (ProcessCensus) -> Int)] = [
            ("resident", .memory, \.resident), ("allocated", .memory, \.allocated),
            ("descriptors", .count, \.descriptors), ("threads", .count, \.threads), ("timers", .count, \.timers),
        ]
        return Process.allCases.flatMap { process in
            let moving = parts.map { part in
                SoakSeries(
                    process: process, name: part.name, kind: part.kind,
                    points: record.samples.map { sample in
                        Point(
                            time: sample.time, value: Double(part.value(sample[process])),
                            other: part.name == "descriptors" ? sample.sockets(process) : sample.peers(process))
                    })
            }
            let atRest = parts.filter { $0.kind == .memory }.map { part in
                SoakSeries(
                    process: process, name: "\(part.name) at rest", kind: .memory,
                    points: record.ebbs.map { Point(time: $0.time, value: Double(part.value($0[process])), other: 0) })
            }
            return moving + atRest
        }
    }

    /// The line through the second half of a run.
    func fit(runTime: Double) -> SoakTrend? {
        let half = points.filter { $0.time >= runTime / 2 }
        guard let first = half.first?.time, let last = half.last?.time,
            let fit = LineFit(times: half.map(\.time), values: half.map(\.value), other: half.map(\.other))
        else { return nil }
        let limit = kind == .count ? Self.countLimit : max(Self.memoryLimit, Self.memoryShare * fit.middle.value)
        return SoakTrend(
            series: self, fit: fit, start: first, end: last, limit: limit, isJudged: runTime >= Self.settledTime)
    }
}

extension SoakSample {
    fileprivate subscript(_ process: SoakSeries.Process) -> ProcessCensus {
        process == .sharing ? sharing : viewing
    }

    fileprivate func peers(_ process: SoakSeries.Process) -> Double {
        Double(process == .sharing ? connections : viewers)
    }

    /// Descriptors that are due: three of a connection with a port of its own, which follows the interfaces too, and two
    /// of a path.
    fileprivate func sockets(_ process: SoakSeries.Process) -> Double {
        Double(process == .sharing ? 3 * ownPorts : 3 * viewers + 2 * paths)
    }
}

extension SoakEbb {
    fileprivate subscript(_ process: SoakSeries.Process) -> ProcessCensus {
        process == .sharing ? sharing : viewing
    }
}

/// How one of the figures went.
struct SoakTrend {
    enum Verdict: String {
        case flat
        case grows = "GROWS"
        /// The error of the fit is too great to say.
        case unclear
        case untold = "not judged"
    }

    let series: SoakSeries
    let fit: LineFit
    let start: Double
    let end: Double
    /// The most that it may grow by between start and end.
    let limit: Double
    let isJudged: Bool

    /// What the line rises by from its start to its end, and twice its standard error.
    var growth: Double { fit.slope * (end - start) }
    var error: Double { 2 * fit.slopeError * (end - start) }

    var verdict: Verdict {
        guard isJudged else { return .untold }
        if growth - error > limit { return .grows }
        return growth + error > limit ? .unclear : .flat
    }
}
