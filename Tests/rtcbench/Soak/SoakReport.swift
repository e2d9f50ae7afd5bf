internal import Foundation
internal import RTCShareNetworkSimulation

/// The results of a soak test, for people.
struct SoakReport {
    let seed: UInt64
    let record: SoakRecord
    private let trends: [SoakTrend]
    /// The seconds from the start to the last record.
    private let runTime: Double

    init(seed: UInt64, record: SoakRecord) {
        self.seed = seed
        self.record = record
        let runTime = max(record.samples.last?.time ?? 0, record.ebbs.last?.time ?? 0)
        self.runTime = runTime
        trends = SoakSeries.all(of: record).compactMap { $0.fit(runTime: runTime) }
    }

    /// Whether nothing grows, and all viewers received the expected media.
    var passes: Bool { record.failures.isEmpty && trends.allSatisfy { $0.verdict != .grows } }

    var table: String {
        var lines = [summary, ""]
        lines.append("second half                     mean  rises by  ± 2 errors   at most   an hour")
        lines += trends.map(row)
        lines += ["", "left when everybody had left: descriptors, threads, timers, connections; allocated"]
        lines += record.ebbs.map { ebb in
            String(
                format: "at %6.0f s  %3d %3d %3d %3d  %6.2f MiB", ebb.time, ebb.sharing.descriptors,
                ebb.sharing.threads, ebb.sharing.timers, ebb.leftBehind, Double(ebb.sharing.allocated) / Self.mebibyte)
        }
        lines += record.failures.map(Self.line)
        lines.append(passes ? "passed\(reservation)" : "FAILED")
        return lines.joined(separator: "\n")
    }

    /// Returns one failure in a line.
    static func line(_ failure: SoakWatch.Failure) -> String {
        String(format: "at %.1f s ", failure.time) + (failure.viewer.map { "viewer \($0): " } ?? "") + failure.text
    }

    private static let mebibyte = 1024.0 * 1024

    /// The reservations about a run that passes.
    private var reservation: String {
        if trends.contains(where: { $0.verdict == .untold }) { return "; too short for lines to be judged" }
        let count = trends.count { $0.verdict == .unclear }
        return count == 0 ? "" : "; \(count) of \(trends.count) lines are too unclear to be judged"
    }

    private var summary: String {
        let actions = record.actions.sorted { $0.value > $1.value }.map { "\($0.value) \($0.key)" }
        let last = record.samples.last
        return String(
            format: "seed %llu, %.0f s: %d frames sent, %d pictures seen, %.2f of a processor for sharing; ", seed,
            runTime, last?.framesSent ?? 0, last?.picturesSeen ?? 0, (last?.processorTime ?? 0) / max(runTime, 1))
            + actions.joined(separator: ", ")
    }

    private func row(_ trend: SoakTrend) -> String {
        let scale = trend.series.kind == .memory ? Self.mebibyte : 1
        let unit = trend.series.kind == .memory ? "MiB" : ""
        func number(_ value: Double) -> String {
            value.isFinite ? String(format: "%.2f", value / scale) : "–"
        }
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return "\(trend.series.process.rawValue): \(trend.series.name)".padding(
            toLength: 28, withPad: " ", startingAt: 0)
            + right(number(trend.fit.middle.value), 8) + right(number(trend.growth), 10)
            + right(number(trend.error), 12) + right(number(trend.limit), 10)
            + right(number(trend.fit.slope * 3600), 10) + " " + unit.padding(toLength: 4, withPad: " ", startingAt: 0)
            + trend.verdict.rawValue
    }

    // MARK: Chart

    /// A chart of every resource over time, with the fitted lines.
    var chart: Chart {
        let minutes = max(runTime / 60, 0.1)
        return Chart(
            title: String(format: "A soak of %.0f minutes, seed %llu", minutes, seed), length: minutes, timeUnit: "min",
            panels: [
                memory(.sharing), memory(.viewing), counts(.sharing, besides: ("connections", \.connections)),
                counts(.viewing, besides: ("viewers", \.viewers)), rates,
            ])
    }

    private static let colors = ["#0057b8", "#d1410c", "#2a8a3a", "#8a2fb5"]

    private func memory(_ process: SoakSeries.Process) -> Chart.Panel {
        .init(
            title: "Memory of the \(process.rawValue) process", unit: "MiB", height: 150,
            series: lines(of: process, .memory, scale: Self.mebibyte))
    }

    private func counts(
        _ process: SoakSeries.Process, besides other: (name: String, value: (SoakSample) -> Int)
    ) -> Chart.Panel {
        .init(
            title: "Held by the \(process.rawValue) process", unit: "count", height: 130,
            series: [
                .init(
                    name: other.name, color: "#999", width: 1,
                    points: record.samples.map { ($0.time / 60, Double(other.value($0))) })
            ] + lines(of: process, .count, scale: 1))
    }

    /// Returns the resources, and the fitted lines dashed.
    private func lines(of process: SoakSeries.Process, _ kind: SoakSeries.Kind, scale: Double) -> [Chart.Series] {
        let chosen = trends.filter { $0.series.kind == kind && $0.series.process == process }
        return zip(chosen, Self.colors).flatMap { trend, color in
            [
                Chart.Series(
                    name: trend.series.name, color: color, width: 1.2,
                    points: trend.series.points.map { ($0.time / 60, $0.value / scale) }),
                Chart.Series(
                    name: "its line: \(trend.verdict.rawValue)", color: color, dashes: "6 3", width: 2,
                    points: [trend.start, trend.end].map { ($0 / 60, trend.fit.value(at: $0) / scale) }),
            ]
        }
    }

    /// The frames per second of all viewers together.
    private var rates: Chart.Panel {
        func rate(_ value: (SoakSample) -> Int) -> [(time: Double, value: Double?)] {
            // The mean of a minute; in short runs, that of the available samples.
            let step = max(2, min(12, record.samples.count / 20))
            return stride(from: step, to: record.samples.count, by: step).map { index in
                let (before, after) = (record.samples[index - step], record.samples[index])
                return (after.time / 60, Double(value(after) - value(before)) / (after.time - before.time))
            }
        }
        return .init(
            title: "Frames of all viewers", unit: "a second", height: 110,
            series: [
                .init(name: "sent", color: Self.colors[0], width: 1.2, points: rate(\.framesSent)),
                .init(name: "seen", color: Self.colors[1], width: 1.2, points: rate(\.picturesSeen)),
            ])
    }
}
