internal import FoundationEssentials

/// Draws graphs as HTML with SVG inside: the shapes stretch with the page, the texts do not.
struct GraphMarkup {
    /// A time that is shaded in every graph of a connection.
    struct Shade {
        enum Kind: String, CaseIterable {
            case freeze
            case pause
            case gap

            var words: String {
                switch self {
                case .freeze: "the viewer saw a freeze"
                case .pause: "the share was paused"
                case .gap: "no statistics"
                }
            }
        }

        let kind: Kind
        let from: Double
        let to: Double
    }

    let axis: TimeAxis
    let shades: [Shade]
    /// The maximum number of seconds between two values that are connected by a line.
    let longestInterval: Double

    /// The maximum number of points: a screen has no more columns.
    private static let mostPoints = 1600
    private static let (width, height) = (1000.0, 100.0)

    /// Returns a graph, with its values at the pointer's time if the page's script runs.
    func figure(_ graph: ReportGraph) -> String {
        let ticks = graph.ticks
        let top = ticks.last ?? 1
        let lines = graph.lines.map { line in (line, line.series.thinned(to: Self.mostPoints)) }
        let legend = lines.enumerated().map { index, line in
            "<li class=\"line\(index) \(line.0.style.rawValue)\"><i></i>\(line.0.name.escapedForMarkup) "
                + "<output></output></li>"
        }
        let digits = ticks.dropFirst().first.map { $0 < 0.1 ? 2 : $0 < 1 || $0 != $0.rounded() ? 1 : 0 } ?? 0
        let marks = ticks.map { tick in
            "<span style=\"bottom:\(Self.percent(tick / top))\">\(String(printing: "%.\(digits)f", tick))</span>"
        }
        let grid = ticks.dropFirst().map { tick in
            let y = Self.coordinate(Self.height * (1 - tick / top))
            return "<path class=\"grid\" d=\"M0 \(y)H1000\"/>"
        }
        let shapes = lines.enumerated().map { index, line in
            "<path class=\"line\(index) \(line.0.style.rawValue)\" d=\"\(path(line.1, style: line.0.style, top: top))\"/>"
        }
        let data = lines.map { "[\(Self.list($0.1.times.map { $0 - axis.start })),\(Self.list($0.1.values))]" }
        return """
            <figure class="graph" data-lines="[\(data.joined(separator: ","))]">
            <figcaption><h4>\(graph.title.escapedForMarkup) <small>\(graph.unit.escapedForMarkup)</small></h4>
            <ul>\(legend.joined())</ul></figcaption>
            <div class="plot"><div class="y" aria-hidden="true">\(marks.joined())</div>
            <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="\(summary(graph).escapedForMarkup)">
            \(shading)\(grid.joined())<path class="base" d="M0 100H1000"/>
            \(shapes.joined(separator: "\n"))</svg>\(timeMarks)</div>
            </figure>

            """
    }

    /// Returns rows of names over time.
    func strips(_ rows: [(name: String, steps: Steps)], until end: Double) -> String {
        let known = rows.filter { !$0.steps.isEmpty }
        guard !known.isEmpty else { return "" }
        let strips = known.map { row in
            let spans = row.steps.spans(until: end).prefix(Self.mostPoints).map { span in
                let (from, to) = (axis.share(span.from), axis.share(span.to))
                let name = span.name.escapedForMarkup
                return "<span class=\"span \(Self.tone(span.name))\" style=\"left:\(Self.percent(from));"
                    + "width:\(Self.percent(to - from))\" data-from=\"\(Self.rounded(span.from - axis.start))\" "
                    + "title=\"\(name), from \(axis.preciseLabel(span.from))\"><b>\(name)</b></span>"
            }
            return "<div class=\"strip\"><h5>\(row.name.escapedForMarkup) <output></output></h5>"
                + "<div class=\"plot\"><div class=\"track\">\(spans.joined())</div></div></div>\n"
        }
        return """
            <figure class="graph strips"><figcaption><h4>Limits</h4></figcaption>
            \(strips.joined())<div class="plot">\(timeMarks)</div></figure>

            """
    }

    /// Returns the color class of a limit; its name is written on it or next to it, too.
    private static func tone(_ name: String) -> String {
        switch name {
        case "none", "maximum", "application": "calm"
        case "bandwidth", "delay", "loss", "remote", "window": "route"
        case "cpu": "machine"
        default: "other"
        }
    }

    // MARK: Shapes

    private func path(_ series: Series, style: ReportGraph.Style, top: Double) -> String {
        var path = ""
        var before: Double?
        for (time, value) in zip(series.times, series.values) {
            let x = Self.coordinate(axis.share(time) * Self.width)
            let y = Self.coordinate(Self.height * (1 - min(max(value / top, 0), 1)))
            switch style {
            case .bars: if value > 0 { path += "M\(x) 100V\(y)" }
            case .steps where before != nil: path += "H\(x)V\(y)"
            case .solid, .dashed, .steps:
                // A single point is a line of zero length, which has round ends.
                let isApart = before.map { time - $0 > longestInterval } ?? true
                path += isApart ? "M\(x) \(y)h0" : "L\(x) \(y)"
            }
            before = time
        }
        return path
    }

    private var shading: String {
        shades.map { shade in
            let (from, to) = (axis.share(shade.from), axis.share(shade.to))
            let x = Self.coordinate(from * Self.width)
            let width = Self.coordinate(max((to - from) * Self.width, 1))
            return "<rect class=\"\(shade.kind.rawValue)\" x=\"\(x)\" y=\"0\" width=\"\(width)\" height=\"100\"/>"
        }.joined()
    }

    private var timeMarks: String {
        let marks = axis.ticks.map { tick in
            "<span style=\"left:\(Self.percent(tick / axis.length))\">\(axis.label(tick))</span>"
        }
        return "<div class=\"x\" aria-hidden=\"true\">\(marks.joined())</div>"
    }

    /// Returns a text for readers who can't see the graph.
    private func summary(_ graph: ReportGraph) -> String {
        let lines = graph.lines.map { line in
            let mean = line.series.mean.map { "mean \(EventFinder.number($0))" } ?? ""
            let largest = line.series.largest.map { ", at most \(EventFinder.number($0))" } ?? ""
            return "\(line.name): \(mean)\(largest)"
        }
        return "\(graph.title), \(graph.unit). \(lines.joined(separator: "; "))"
    }

    // MARK: Numbers

    private static func coordinate(_ value: Double) -> String { String(printing: "%.1f", value) }

    private static func percent(_ share: Double) -> String { String(printing: "%.3f%%", share * 100) }

    private static func rounded(_ value: Double) -> String { String(printing: "%.2f", value) }

    private static func list(_ values: [Double]) -> String {
        let texts = values.map { value in
            value == value.rounded() ? String(printing: "%.0f", value) : rounded(value)
        }
        return "[\(texts.joined(separator: ","))]"
    }
}
