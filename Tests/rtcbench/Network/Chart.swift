internal import Foundation

/// A chart of curves over one time axis, in panels one below the other, each with its own scale, as SVG.
struct Chart {
    struct Series {
        let name: String
        let color: String
        var dashes = ""
        var width = 1.5
        /// Whether a value is valid until the next one, instead of a straight line between them.
        var isStepped = false
        /// The points by their time, with gaps for missing values.
        let points: [(time: Double, value: Double?)]
    }

    struct Panel {
        let title: String
        let unit: String
        let height: Double
        let series: [Series]
        /// The minimum upper end of the scale.
        var least = 0.0
    }

    let title: String
    /// The length of the axis.
    let length: Double
    /// The unit of time.
    var timeUnit = "s"
    let panels: [Panel]

    private static let left = 70.0
    private static let plotWidth = 780.0
    private static let legendWidth = 190.0
    private static let top = 50.0
    private static let gap = 46.0

    /// The complete chart.
    var svg: String {
        let width = Self.left + Self.plotWidth + Self.legendWidth
        let height = Self.top + panels.map { $0.height + Self.gap }.reduce(0, +) + 10
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(text(width)) \(text(height))\" "
                + "width=\"\(text(width))\" height=\"\(text(height))\" font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"\(text(Self.left))\" y=\"24\" font-size=\"17\" font-weight=\"bold\">\(escaped(title))</text>",
        ]
        var y = Self.top
        for (index, panel) in panels.enumerated() {
            lines += draw(panel, y: y, isLast: index == panels.count - 1)
            y += panel.height + Self.gap
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func draw(_ panel: Panel, y: Double, isLast: Bool) -> [String] {
        let values = panel.series.flatMap { $0.points.compactMap(\.value) }
        let step = Self.niceStep(for: max(panel.least, values.max() ?? 0, 1e-9), count: max(2, Int(panel.height / 40)))
        let most = max(step, (max(panel.least, values.max() ?? 0) / step).rounded(.up) * step)
        func place(_ time: Double, _ value: Double) -> (String, String) {
            (
                text(Self.left + Self.plotWidth * time / length),
                text(y + panel.height * (1 - min(value, most) / most))
            )
        }
        var lines = [
            "<text x=\"\(text(Self.left))\" y=\"\(text(y - 7))\" font-weight=\"bold\">"
                + "\(escaped(panel.title)) [\(escaped(panel.unit))]</text>"
        ]
        for tick in stride(from: 0, through: most + step / 2, by: step) {
            let (x, height) = place(0, tick)
            lines.append(
                "<path d=\"M\(x) \(height)h\(text(Self.plotWidth))\" stroke=\"#ddd\"/><text x=\"\(text(Self.left - 6))\" "
                    + "y=\"\(height)\" dy=\"4\" text-anchor=\"end\">\(text(tick))</text>")
        }
        let timeStep = Self.niceStep(for: length, count: 10)
        for tick in stride(from: 0, through: length, by: timeStep) {
            let x = place(tick, 0).0
            lines.append(
                "<path d=\"M\(x) \(text(y))v\(text(panel.height + 4))\" stroke=\"#ddd\"/><text x=\"\(x)\" "
                    + "y=\"\(text(y + panel.height + 17))\" text-anchor=\"middle\">\(text(tick))</text>")
        }
        if isLast {
            lines.append(
                "<text x=\"\(text(Self.left + Self.plotWidth / 2))\" y=\"\(text(y + panel.height + 34))\" "
                    + "text-anchor=\"middle\">time [\(timeUnit)]</text>")
        }
        for (index, series) in panel.series.enumerated() {
            let style =
                "fill=\"none\" stroke=\"\(series.color)\" stroke-width=\"\(text(series.width))\""
                + (series.dashes.isEmpty ? "" : " stroke-dasharray=\"\(series.dashes)\"")
            lines.append("<path d=\"\(path(series, place: place))\" \(style) stroke-linejoin=\"round\"/>")
            let (x, height) = (Self.left + Self.plotWidth + 14, y + 10 + Double(index) * 16)
            lines.append(
                "<path d=\"M\(text(x)) \(text(height - 4))h22\" \(style)/><text x=\"\(text(x + 28))\" "
                    + "y=\"\(text(height))\">\(escaped(series.name))</text>")
        }
        lines.append(
            "<rect x=\"\(text(Self.left))\" y=\"\(text(y))\" width=\"\(text(Self.plotWidth))\" "
                + "height=\"\(text(panel.height))\" fill=\"none\" stroke=\"#666\"/>")
        return lines
    }

    private func path(_ series: Series, place: (Double, Double) -> (String, String)) -> String {
        var path = ""
        var isDrawing = false
        for (time, value) in series.points {
            guard let value else {
                isDrawing = false
                continue
            }
            let (x, y) = place(time, value)
            path += isDrawing ? (series.isStepped ? "H\(x)V\(y)" : "L\(x) \(y)") : "M\(x) \(y)"
            isDrawing = true
        }
        return path
    }

    /// Returns 1, 2 or 5 times a power of ten, so that about `count` of them fit into `value`.
    private static func niceStep(for value: Double, count: Int) -> Double {
        let raw = value / Double(count)
        let power = pow(10, log10(raw).rounded(.down))
        return ([1, 2, 5, 10].first { $0 * power >= raw * 0.999 } ?? 10) * power
    }

    private func text(_ value: Double) -> String {
        let rounded = (value * 100).rounded() / 100
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
