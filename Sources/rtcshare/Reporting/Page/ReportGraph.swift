/// A graph: some series of one unit.
struct ReportGraph {
    /// A line of the graph.
    struct Line {
        let name: String
        let series: Series
        var style = Style.solid
    }

    enum Style: String {
        case solid
        case dashed
        /// A value that is valid until it changes.
        case steps
        /// A count since the report before.
        case bars
    }

    let title: String
    let unit: String
    let lines: [Line]
    /// The minimum of the axis's upper end.
    let leastMaximum: Double
    /// Whether its values are integers.
    var isCount: Bool { lines.allSatisfy { $0.style == .bars } && leastMaximum < 10 }

    /// Creates a graph of the lines that have values; nil if none has any.
    init?(_ title: String, _ unit: String, leastMaximum: Double = 1, _ lines: [Line]) {
        let known = lines.filter { !$0.series.isEmpty }
        guard !known.isEmpty else { return nil }
        self.title = title
        self.unit = unit
        self.leastMaximum = leastMaximum
        self.lines = known
    }

    /// The labels of the axis, from 0 to the graph's upper end.
    var ticks: [Double] {
        let top = max(lines.compactMap(\.series.largest).max() ?? 0, leastMaximum)
        let rough = top / 4
        var step = 1.0
        while step < rough { step *= 10 }
        while step / 10 >= rough { step /= 10 }
        step = [0.1, 0.2, 0.25, 0.5, 1].map { $0 * step }.first { $0 >= rough } ?? step
        if isCount { step = step.rounded(.up) }
        return Array(stride(from: 0, through: (top / step).rounded(.up) * step + step / 2, by: step))
    }
}

extension ReportGraph {
    /// Returns the graphs of a stream.
    static func graphs(of stream: StreamHistory, in connection: ConnectionHistory) -> [ReportGraph] {
        let graphs = stream.isVideo ? pictures(stream, connection) : sound(stream)
        return graphs.compactMap { $0 }
    }

    private static func pictures(_ stream: StreamHistory, _ connection: ConnectionHistory) -> [ReportGraph?] {
        let isSent = stream.isSent
        return [
            ReportGraph(
                "Rate", "kbit/s", leastMaximum: 100,
                [
                    Line(name: isSent ? "sent" : "received", series: stream[.rate]),
                    Line(name: "of which retransmitted", series: stream[.repeated]),
                ]
                    + (isSent
                        ? [
                            Line(name: "target", series: stream[.target], style: .dashed),
                            Line(name: "estimated bandwidth", series: connection.available, style: .dashed),
                        ] : [])),
            ReportGraph(
                "Frames", "per second", leastMaximum: 5,
                [
                    Line(name: isSent ? "sent" : "decoded", series: stream[.frames]),
                    Line(name: "source", series: stream[.sourceFrames], style: .dashed),
                    Line(name: "dropped", series: stream[.framesDropped]),
                ]),
            ReportGraph(
                "Freezes", "ms", leastMaximum: 100,
                [Line(name: "frozen", series: stream[.frozen], style: .bars)]),
            ReportGraph(
                "Key frames", "per report", leastMaximum: 2,
                [
                    Line(name: isSent ? "sent" : "decoded", series: stream[.keyFrames], style: .bars),
                    Line(name: "requested (PLI)", series: stream[.pictureLossIndications], style: .bars),
                    Line(name: "requested (FIR)", series: stream[.fullIntraRequests], style: .bars),
                ]),
            ReportGraph(
                "Loss", "% of packets", leastMaximum: 5,
                [
                    Line(name: isSent ? "lost, reported by the viewer" : "lost", series: stream[.loss]),
                    Line(name: "retransmitted", series: stream[.resent]),
                ]),
            ReportGraph(
                "Round trip", "ms", leastMaximum: 20,
                [
                    Line(name: "measured by RTCP", series: stream[.roundTrip]),
                    Line(name: "measured by ICE", series: connection.pathRoundTrip, style: .dashed),
                    Line(name: "jitter", series: stream[.jitter]),
                ]),
            isSent
                ? ReportGraph(
                    "Queue", "ms", leastMaximum: 20,
                    [
                        Line(name: "packet delay", series: stream[.sendDelay]),
                        Line(name: "queued at the report", series: connection.queue, style: .dashed),
                    ]) : nil,
            ReportGraph(
                "Jitter buffer", "ms", leastMaximum: 20, [Line(name: "frame delay", series: stream[.bufferDelay])]),
            ReportGraph(
                "Size", "height in pixels", leastMaximum: 100,
                [
                    Line(name: isSent ? "sent" : "decoded", series: stream[.height], style: .steps),
                    Line(name: "source", series: stream[.sourceHeight], style: .dashed),
                ]),
            ReportGraph(
                isSent ? "Encoding" : "Decoding", "ms per frame", leastMaximum: 5,
                [Line(name: "mean", series: stream[.codingTime])]),
            ReportGraph(
                "Quantizer", "compression: 0 sharp to 127 coarse", leastMaximum: 40,
                [Line(name: "mean", series: stream[.quantizer])]),
        ]
    }

    private static func sound(_ stream: StreamHistory) -> [ReportGraph?] {
        [
            ReportGraph(
                "Rate", "kbit/s", leastMaximum: 50,
                [
                    Line(name: stream.isSent ? "sent" : "received", series: stream[.rate]),
                    Line(name: "target", series: stream[.target], style: .dashed),
                ]),
            ReportGraph("Loss", "% of packets", leastMaximum: 5, [Line(name: "lost", series: stream[.loss])]),
            ReportGraph(
                "Concealed", "% of the audio", leastMaximum: 5, [Line(name: "concealed", series: stream[.concealed])]),
            ReportGraph(
                "Delays", "ms", leastMaximum: 20,
                [
                    Line(name: "jitter buffer", series: stream[.bufferDelay]),
                    Line(name: "jitter", series: stream[.jitter]),
                    Line(name: "round trip", series: stream[.roundTrip]),
                ]),
        ]
    }
}
