internal import Foundation

/// A bar chart of several measurements, each in its own panel, grouped by content, as SVG.
struct BarChart {
    struct Panel {
        let title: String
        let unit: String
        /// The bars of each group, in the order of the series; nil for a missing value.
        let values: [[Double?]]
        var decimals = 0
    }

    let title: String
    let groups: [String]
    let series: [(name: String, color: String)]
    let panels: [Panel]

    private static let left = 70.0
    private static let plotWidth = 860.0
    private static let panelHeight = 130.0
    private static let gap = 52.0
    private static let top = 70.0

    /// The complete chart.
    var svg: String {
        let width = Self.left + Self.plotWidth + 20
        let height = Self.top + Double(panels.count) * (Self.panelHeight + Self.gap)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(text(width)) \(text(height))\" "
                + "width=\"\(text(width))\" height=\"\(text(height))\" font-family=\"sans-serif\" font-size=\"11\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"\(text(Self.left))\" y=\"20\" font-size=\"15\" font-weight=\"bold\">\(escaped(title))</text>",
        ]
        for (index, entry) in series.enumerated() {
            let x = Self.left + Double(index) * 130
            lines.append(
                "<rect x=\"\(text(x))\" y=\"30\" width=\"12\" height=\"12\" fill=\"\(entry.color)\"/>"
                    + "<text x=\"\(text(x + 17))\" y=\"40\">\(escaped(entry.name))</text>")
        }
        for (index, panel) in panels.enumerated() {
            lines += draw(panel, y: Self.top + Double(index) * (Self.panelHeight + Self.gap))
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func draw(_ panel: Panel, y: Double) -> [String] {
        let most = max(panel.values.flatMap { $0.compactMap { $0 } }.max() ?? 0, 1e-9)
        let groupWidth = Self.plotWidth / Double(max(1, groups.count))
        let barWidth = groupWidth * 0.8 / Double(max(1, series.count))
        let floor = y + Self.panelHeight
        var lines = [
            "<text x=\"\(text(Self.left))\" y=\"\(text(y - 6))\" font-weight=\"bold\">"
                + "\(escaped(panel.title)) [\(escaped(panel.unit))]</text>",
            "<path d=\"M\(text(Self.left)) \(text(floor))h\(text(Self.plotWidth))\" stroke=\"#666\"/>",
        ]
        for (group, values) in panel.values.enumerated() {
            let start = Self.left + (Double(group) + 0.1) * groupWidth
            for (index, value) in values.enumerated() {
                guard let value else { continue }
                let height = (Self.panelHeight - 14) * value / most
                let x = start + Double(index) * barWidth
                lines.append(
                    "<rect x=\"\(text(x))\" y=\"\(text(floor - height))\" width=\"\(text(barWidth - 2))\" "
                        + "height=\"\(text(height))\" fill=\"\(series[index].color)\"/><text x=\""
                        + "\(text(x + barWidth / 2))\" y=\"\(text(floor - height - 3))\" text-anchor=\"middle\" "
                        + "font-size=\"9\">\(String(format: "%.\(panel.decimals)f", value))</text>")
            }
            lines.append(
                "<text x=\"\(text(start + groupWidth * 0.4))\" y=\"\(text(floor + 14))\" text-anchor=\"middle\">"
                    + "\(escaped(groups[group]))</text>")
        }
        return lines
    }

    private func text(_ value: Double) -> String { String(format: "%g", (value * 100).rounded() / 100) }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}

extension ScreenPeer {
    fileprivate var colour: String {
        switch self {
        case .ours: "#0057b8"
        case .broadcast: "#5b9bd5"
        case .sharedMemory: "#9dc3e6"
        case .gstreamer: "#d1410c"
        case .aiortc: "#2a8a3a"
        }
    }
}

extension ScreenReport {
    /// The chart of the tables' values.
    var chart: BarChart {
        let summaries = summaries
        let peers = ScreenPeer.allCases.filter { peer in summaries.contains { $0.peer == peer } }
        var groups: [(size: String, content: ScreenContent)] = []
        for summary in summaries where !groups.contains(where: { $0 == (summary.size, summary.content) }) {
            groups.append((summary.size, summary.content))
        }
        func panel(
            _ title: String, _ unit: String, decimals: Int = 0, _ figure: (Summary) -> Double?
        ) -> BarChart.Panel {
            BarChart.Panel(
                title: title, unit: unit,
                values: groups.map { group in
                    peers.map { peer in
                        summaries.first { ($0.size, $0.content, $0.peer) == (group.size, group.content, peer) }
                            .flatMap(figure)
                    }
                }, decimals: decimals)
        }
        return BarChart(
            title: "Sending an X11 screen, at most \(settings.bitrate) kbit/s: \(machine.processor)",
            groups: groups.map { "\($0.content.rawValue), \($0.size.split(separator: "x").last ?? "")" },
            series: peers.map { ($0.name, $0.colour) },
            panels: [
                panel("Processor time of the sender", "ms a second", decimals: 1, \.senderProcessor),
                panel("Bitrate", "kbit/s", \.bitrate),
                panel("Pictures decoded", "1/s", decimals: 1, \.frameRate),
                panel("Unlikeness to the screen, 1 − SSIM", "1/1000", decimals: 1) {
                    $0.similarity.map { 1000 * (1 - $0) }
                },
                panel("From change to decoded picture, median", "ms", decimals: 1, \.latency50),
                panel("From change to decoded picture, 95th percentile", "ms", decimals: 1, \.latency95),
            ])
    }
}
