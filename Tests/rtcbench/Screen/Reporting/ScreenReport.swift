internal import Foundation

/// The results of the command, for people and for programs.
struct ScreenReport: Codable {
    /// The results of one peer with one content: medians of the rounds.
    struct Summary: Codable {
        let size: String
        let content: ScreenContent
        let peer: ScreenPeer
        let rounds: Int
        let senderProcessor: Double?
        /// The processor time of the sender per decoded frame, in milliseconds, for senders that skip frames.
        let processorPerPicture: Double?
        let serverProcessor: Double?
        let bitrate: Double?
        let frameRate: Double?
        let similarity: Double?
        let leastSimilarity: Double?
        let restSimilarity: Double?
        let latency50: Double?
        let latency95: Double?
        let latency99: Double?
        let connecting: Double?
        let firstPicture: Double?
        /// The number of changes that no frame ever showed, in all rounds.
        let unseenChanges: Int
        /// The median ratio of this sender's value to this peer's in the same round; nil for this sender itself.
        let processorRatio: Double?
        let latency50Ratio: Double?
        let latency95Ratio: Double?
    }

    let machine: MachineDescription
    let settings: ScreenRun.Settings
    let peers: [String: String]
    /// The placement of senders, in words.
    let placement: String
    var results: [ScreenResult] = []
    /// The X server's vendor and release.
    var server = ""
    /// The peers that are not measured, with the reasons.
    var leftOut: [String] = []
    /// The failed runs, with the reasons.
    var failures: [String] = []

    /// A summary for each size, content and peer, in the order of their measurement.
    var summaries: [Summary] {
        var keys: [[String]] = []
        for result in results {
            let key = [result.size, result.content.rawValue, result.peer.rawValue]
            if !keys.contains(key) { keys.append(key) }
        }
        let grouped = Dictionary(grouping: results) { [$0.size, $0.content.rawValue, $0.peer.rawValue] }
        return keys.sorted(by: Self.precedes).compactMap { grouped[$0].map(summary) }
    }

    /// Returns the order by size and content, because rounds may have started with another peer.
    private static func precedes(_ one: [String], _ other: [String]) -> Bool {
        func rank(_ key: [String]) -> [Int] {
            [
                -(key[0].split(separator: "x").first.flatMap { Int($0) } ?? 0),
                ScreenContent.allCases.firstIndex { $0.rawValue == key[1] } ?? 0,
                ScreenPeer.allCases.firstIndex { $0.rawValue == key[2] } ?? 0,
            ]
        }
        return rank(one).lexicographicallyPrecedes(rank(other))
    }

    private func summary(_ results: [ScreenResult]) -> Summary {
        func middle(_ figure: (ScreenResult) -> Double?) -> Double? { results.compactMap(figure).median }
        let first = results[0]
        /// Returns the ratio of this sender's value to this peer's, for each round with both.
        func ratio(_ figure: (ScreenResult) -> Double?) -> Double? {
            guard first.peer != .ours else { return nil }
            return results.compactMap { result in
                let own = self.results.first {
                    $0.peer == .ours && ($0.size, $0.content, $0.round) == (result.size, result.content, result.round)
                }
                guard let own, let ours = figure(own), let theirs = figure(result), theirs > 0 else { return nil }
                return ours / theirs
            }.median
        }
        return Summary(
            size: first.size, content: first.content, peer: first.peer, rounds: results.count,
            senderProcessor: middle(\.senderProcessor),
            processorPerPicture: middle { $0.frameRate > 0 ? $0.senderProcessor / $0.frameRate : nil },
            serverProcessor: middle(\.serverProcessor),
            bitrate: middle(\.bitrate), frameRate: middle(\.frameRate), similarity: middle(\.similarity),
            leastSimilarity: middle(\.leastSimilarity), restSimilarity: middle(\.restSimilarity),
            latency50: middle { $0.latencies.rank(0.5) }, latency95: middle { $0.latencies.rank(0.95) },
            latency99: middle { $0.latencies.rank(0.99) }, connecting: middle(\.connecting),
            firstPicture: middle(\.firstPicture),
            unseenChanges: results.map(\.unseenChanges).reduce(0, +), processorRatio: ratio(\.senderProcessor),
            latency50Ratio: ratio { $0.latencies.rank(0.5) }, latency95Ratio: ratio { $0.latencies.rank(0.95) })
    }

    // MARK: Output

    /// The lines above the table.
    var heading: String {
        ([
            "\(machine); \(server)", placement,
            "At most \(settings.bitrate) kbit/s; \(settings.seconds) s measured after \(settings.warmUp) s; seed "
                + "\(settings.seed).",
        ] + peers.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" } + leftOut).joined(separator: "\n")
    }

    /// The table of the senders' costs.
    var encodeTable: String {
        Table(
            titles: [
                "size", "content", "sender", "CPU ms/s", "ours/its", "ms/picture", "Xvfb ms/s", "kbit/s", "pictures/s",
                "SSIM",
                "least", "at rest",
            ],
            rows: summaries.map {
                [
                    $0.size, $0.content.rawValue, $0.peer.name, $0.senderProcessor.text(1), $0.processorRatio.text(3),
                    $0.processorPerPicture.text(1),
                    $0.serverProcessor.text(1), $0.bitrate.text(0) + (exceedsCap($0) ? "!" : ""), $0.frameRate.text(1),
                    $0.similarity.text(4),
                    $0.leastSimilarity.text(4), $0.restSimilarity.text(4),
                ]
            }
        ).description + note
    }

    /// Returns whether a peer clearly exceeded its bitrate limit.
    private func exceedsCap(_ summary: Summary) -> Bool {
        (summary.bitrate ?? 0) > 1.15 * Double(settings.bitrate)
    }

    /// The notes for the table.
    private var note: String {
        summaries.contains(where: exceedsCap) ? "\n! is over the cap of \(settings.bitrate) kbit/s." : ""
    }

    /// The table of delays.
    var latencyTable: String {
        Table(
            titles: [
                "size", "content", "sender", "50 % ms", "95 % ms", "99 % ms", "ours/its 50 %", "95 %", "never seen",
                "connected ms", "first picture ms",
            ],
            rows: summaries.map {
                [
                    $0.size, $0.content.rawValue, $0.peer.name, $0.latency50.text(1), $0.latency95.text(1),
                    $0.latency99.text(1), $0.latency50Ratio.text(2), $0.latency95Ratio.text(2),
                    $0.content.interval == nil ? "–" : "\($0.unseenChanges)",
                    $0.connecting.text(0), $0.firstPicture.text(0),
                ]
            }
        ).description
    }

    func json() throws -> Data {
        struct Whole: Encodable {
            let report: ScreenReport
            let summaries: [Summary]
            let bars: [ScreenBar]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(Whole(report: self, summaries: summaries, bars: ScreenBar.all(summaries)))
    }
}

/// A table with aligned columns.
struct Table: CustomStringConvertible {
    let titles: [String]
    let rows: [[String]]
    /// The number of left-aligned columns.
    var leading = 3

    var description: String {
        let widths = titles.indices.map { column in ([titles] + rows).map { $0[column].count }.max() ?? 0 }
        return ([titles] + rows).map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column < leading ? text + space : space + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

extension Double? {
    /// Returns the number with so many decimals; a dash for nil.
    func text(_ decimals: Int) -> String { map { String(format: "%.\(decimals)f", $0) } ?? "–" }
}
