internal import RTCShareNetworkSimulation

/// Both processes at one time of a soak test.
struct SoakSample: Codable {
    /// The seconds from the start.
    let time: Double
    /// The number of the room's connections, including those to vanished viewers and, below, those with a port of their
    /// own.
    let connections: Int
    let ownPorts: Int
    /// The number of viewers and, below, of the links of current and recent ones.
    let viewers: Int
    let paths: Int
    let sharing: ProcessCensus
    let viewing: ProcessCensus
    /// The counts since the start.
    let framesSent: Int
    let picturesSeen: Int
    /// The processor time of sharing since the start, in seconds.
    let processorTime: Double
}

/// Both processes after all viewers have left and the share has its initial content again.
struct SoakEbb: Codable {
    let time: Double
    let sharing: ProcessCensus
    let viewing: ProcessCensus
    /// The number of connections and sessions of the sharing process that were still in memory.
    let leftBehind: Int
}

/// The record of a soak test.
struct SoakRecord {
    var samples: [SoakSample] = []
    var ebbs: [SoakEbb] = []
    var failures: [SoakWatch.Failure] = []
    var actions: [String: Int] = [:]
}

/// A resource that must not grow, over time.
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
        /// Another variable that it depends on, besides time.
        let other: Double
    }

    let process: Process
    let name: String
    let kind: Kind
    let points: [Point]

    /// The permitted growth of memory in the time of the fit: the greater of these bytes and, below, of this fraction
    /// of it.
    private static let memoryLimit = 2.0 * 1024 * 1024
    private static let memoryShare = 0.01
    /// The permitted growth of a count: a growth of one is a leak.
    private static let countLimit = 0.5
    /// The duration of a run in seconds from which lines are evaluated: before that, memory and the pools of threads
    /// have not settled.
    private static let settledTime = 600.0

    /// Returns the series of both processes: while everything changes and, for memory, also without viewers.
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

    /// Returns the line through the second half of a run.
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

    /// Returns the number of expected descriptors: three for a connection with a port of its own, which watches the
    /// interfaces too, and two for a link.
    fileprivate func sockets(_ process: SoakSeries.Process) -> Double {
        Double(process == .sharing ? 3 * ownPorts : 3 * viewers + 2 * paths)
    }
}

extension SoakEbb {
    fileprivate subscript(_ process: SoakSeries.Process) -> ProcessCensus {
        process == .sharing ? sharing : viewing
    }
}

/// The trend of a resource.
struct SoakTrend {
    enum Verdict: String {
        case flat
        case grows = "GROWS"
        /// The error of the fit is too large.
        case unclear
        case untold = "not judged"
    }

    let series: SoakSeries
    let fit: LineFit
    let start: Double
    let end: Double
    /// The maximum growth between start and end.
    let limit: Double
    let isJudged: Bool

    /// The growth of the line from its start to its end and, below, twice its standard error.
    var growth: Double { fit.slope * (end - start) }
    var error: Double { 2 * fit.slopeError * (end - start) }

    var verdict: Verdict {
        guard isJudged else { return .untold }
        if growth - error > limit { return .grows }
        return growth + error > limit ? .unclear : .flat
    }
}
