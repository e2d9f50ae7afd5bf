internal import FoundationEssentials

/// A history as one HTML page, which loads nothing and can be read without its script.
struct ReportPage {
    let history: StatisticsHistory
    /// The subject of the page, for people.
    let title: String

    private let axis: TimeAxis
    private let events: [NotableEvent]
    private let leftOut: Int

    /// The maximum number of shaded times of a kind.
    private static let mostShades = 1000
    /// The maximum number of events.
    private static let mostEvents = 500

    init(_ history: StatisticsHistory, title: String) {
        self.history = history
        self.title = title
        let span = history.span ?? (0, 0)
        axis = TimeAxis(from: span.from, to: span.to)
        let all = EventFinder.events(in: history)
        // If there are too many, the most disturbing are kept.
        let order = Dictionary(uniqueKeysWithValues: NotableEvent.Kind.allCases.enumerated().map { ($1, $0) })
        let ranked = all.indices.sorted { (order[all[$0].kind] ?? 0, $0) < (order[all[$1].kind] ?? 0, $1) }
        events = ranked.prefix(Self.mostEvents).sorted().map { all[$0] }
        leftOut = all.count - events.count
    }

    /// The page's HTML.
    var markup: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="\(Self.securityPolicy)">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <title>\(title.escapedForMarkup) – rtcshare report</title>
        <style>\(Self.style)</style>
        </head>
        <body data-start="\(String(printing: "%.3f", axis.start))" data-length="\(String(printing: "%.3f", axis.length))">
        <header>
        <h1>\(title.escapedForMarkup)</h1>
        <p>\(course.escapedForMarkup)</p>
        \(history.remarks.map { "<p class=\"remark\">\($0.escapedForMarkup)</p>\n" }.joined())</header>
        <main>
        \(eventTable)
        \(history.connections.indices.map(section).joined())</main>
        <form id="cursor" hidden><label for="time">Time</label><input id="time" type="range" min="0" \
        max="\(String(printing: "%.1f", axis.length))" step="0.1" value="0"><output for="time">point at a graph</output></form>
        <script>\(Self.script)</script>
        </body>
        </html>

        """
    }

    /// The summary: start, duration and participants.
    private var course: String {
        let begin = Date(timeIntervalSince1970: axis.start).dayAndTime
        let count = history.connections.count
        let isOfTwo = Set(history.connections.map(\.file)).count > 1
        let words = isOfTwo ? "both sides" : count == 1 ? "one connection" : "\(count) connections"
        return "Start: \(begin). Length: \(axis.label(axis.length)), \(words). Times count from the first report"
            + (isOfTwo ? ", by the clock of each machine." : ".")
    }

    // MARK: Events

    private var eventTable: String {
        guard !events.isEmpty else {
            return "<section><h2>Notable events</h2><p>The statistics show none.</p></section>"
        }
        let hasPlaces = history.connections.count > 1
        let rows = events.map { event in
            let time = axis.preciseLabel(event.time)
            let place = hasPlaces ? "<td class=\"place\">\(event.place.escapedForMarkup)</td>" : ""
            let reasons = event.reasons.joined(separator: "; ")
            let seconds = String(printing: "%.1f", event.time - axis.start)
            return "<tr class=\"\(event.kind.rawValue.replacing(" ", with: "-"))\"><th scope=\"row\">"
                + "<a href=\"#cursor\" data-time=\"\(seconds)\">\(time)</a></th>\(place)"
                + "<td class=\"what\"><b>\(event.kind.rawValue)</b> \(Self.sentence(event.what))</td>"
                + "<td class=\"why\">\(Self.sentence(reasons))</td></tr>\n"
        }
        let more = leftOut > 0 ? "<p class=\"remark\">\(leftOut) more events are not shown.</p>" : ""
        return """
            <section><h2>Notable events</h2>
            <div class="events" tabindex="0" role="region" aria-label="Notable events"><table>
            <thead><tr><th scope="col">Time</th>\(hasPlaces ? "<th scope=\"col\">Where</th>" : "")\
            <th scope="col">Event</th><th scope="col">Statistics at that time</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div>\(more)</section>
            """
    }

    /// Returns a sentence without line breaks between a number and its unit.
    private static func sentence(_ text: String) -> String {
        text.escapedForMarkup.replacing(/[0-9] (ms|s|%|kbit)/) { match in
            match.0.replacing(" ", with: "&nbsp;")
        }
    }

    // MARK: Connections

    private func section(_ index: Int) -> String {
        let connection = history.connections[index]
        let videos = connection.streams.filter(\.isVideo)
        let sounds = connection.streams.filter { !$0.isVideo }
        let parts =
            videos.map { self.part($0, of: connection) }
            + sounds.map { sound in
                "<details><summary>\(sound.name)</summary>\n\(Self.facts([], of: sound))"
                    + "\(part(sound, of: connection))</details>\n"
            }
        let state = (connection.iceState.names.last ?? "unknown").escapedForMarkup
        let nothing =
            state == "new"
            ? "<p>No media was sent or received: the viewer did not answer.</p>"
            : "<p>No media was sent or received. The last state of ICE was \(state).</p>"
        return """
            <section class="whole"><h2>\(connection.title.escapedForMarkup)</h2>
            \(course(of: connection))
            \(connection.streams.isEmpty ? nothing : parts.joined())</section>

            """
    }

    /// Returns the shared source and the candidate pair of a connection.
    private func course(of connection: ConnectionHistory) -> String {
        var facts: [(name: String, value: String)] = []
        if !connection.source.isEmpty { facts.append(("Source", list(connection.source))) }
        if !connection.path.isEmpty { facts.append(("Route", list(connection.path))) }
        if connection.first > axis.start + 2 || connection.last < axis.start + axis.length - 2 {
            facts.append(
                ("Present", "\(axis.preciseLabel(connection.first)) to \(axis.preciseLabel(connection.last))"))
        }
        return Self.list(facts)
    }

    /// Returns names with the times from which they are valid, if there is more than one.
    private func list(_ steps: Steps) -> String {
        guard steps.names.count > 1 else { return steps.names.first ?? "" }
        let shown = zip(steps.times, steps.names).prefix(10).map { "\($1) from \(axis.preciseLabel($0))" }
        return shown.joined(separator: ", ") + (steps.names.count > shown.count ? ", …" : "")
    }

    private func part(_ stream: StreamHistory, of connection: ConnectionHistory) -> String {
        let shades = shades(stream, of: connection)
        let drawing = GraphMarkup(axis: axis, shades: shades, longestInterval: connection.longestInterval)
        let limits =
            stream.isSent && stream.isVideo
            ? drawing.strips(
                [("video", stream.qualityLimitation), ("route", connection.bitrateLimitation)], until: connection.last)
            : ""
        var graphs = ReportGraph.graphs(of: stream, in: connection).map(drawing.figure)
        if !limits.isEmpty { graphs.insert(limits, at: min(1, graphs.count)) }
        let facts = Self.facts(more(stream, of: connection), of: stream)
        let heading = stream.isVideo ? "<h3>\(stream.name)</h3>\n\(facts)" : ""
        return "\(heading)\(Self.key(of: shades))<div class=\"graphs\">\n\(graphs.joined())</div>\n"
    }

    /// Returns the sizes, and the freezes.
    private func more(
        _ stream: StreamHistory, of connection: ConnectionHistory
    ) -> [(name: String, value: String)] {
        let sizes = EventFinder.sizes(stream)
        var facts = sizes.isEmpty ? [] : [("Size", list(sizes))]
        guard !stream[.freezes].isEmpty else { return facts }
        let all = EventFinder(history: history).freezes(of: stream, in: connection)
        let (seen, rests) = (all.filter { !$0.isRest }, all.filter(\.isRest))
        let number = EventFinder.number
        let length = EventFinder.milliseconds(seen.reduce(0) { $0 + $1.length })
        var words = seen.isEmpty ? "none" : "\(number(seen.reduce(0) { $0 + $1.count })), \(length) in total"
        if !rests.isEmpty { words += ", and \(number(rests.reduce(0) { $0 + $1.count })) of an idle screen" }
        facts.append(("Freezes", words))
        return facts
    }

    /// Returns the times of freezes, pauses and gaps, including those in the peer's file.
    private func shades(_ stream: StreamHistory, of connection: ConnectionHistory) -> [GraphMarkup.Shade] {
        let other = history.counterpart(of: stream)
        let finder = EventFinder(history: history)
        let sides = [(connection, stream)] + (other.map { [($0.connection, $0.stream)] } ?? [])
        let pauses = connection.pauses + (other?.connection.pauses ?? [])
        let freezes = sides.flatMap { finder.freezes(of: $1, in: $0) }.filter { !$0.isRest && $0.length > 0 }
            .map { TimeSpan(from: $0.time - $0.length / 1000, to: $0.time) }
        let kinds: [(GraphMarkup.Shade.Kind, [TimeSpan])] = [
            (.pause, pauses), (.gap, connection.gaps), (.freeze, freezes),
        ]
        return kinds.flatMap { kind, spans in
            spans.prefix(Self.mostShades).map { GraphMarkup.Shade(kind: kind, from: $0.from, to: $0.to) }
        }
    }

    /// Returns the key to the shades of the graphs.
    private static func key(of shades: [GraphMarkup.Shade]) -> String {
        let kinds = GraphMarkup.Shade.Kind.allCases.filter { kind in shades.contains { $0.kind == kind } }
        guard !kinds.isEmpty else { return "" }
        let names = kinds.map { "<span><i class=\"\($0.rawValue)\"></i> \($0.words)</span>" }
        return "<p class=\"key\">\(names.joined(separator: " "))</p>\n"
    }

    /// Returns the means of a stream.
    private static func facts(_ more: [(name: String, value: String)], of stream: StreamHistory) -> String {
        let number = EventFinder.number
        var facts: [(name: String, value: String)] = []
        if let rate = stream[.rate].mean { facts.append(("Rate", "\(number(rate.rounded())) kbit/s")) }
        if let frames = stream[.frames].mean { facts.append(("Frames", "\(number(frames)) per second")) }
        facts += more
        if let mean = stream[.loss].mean, let most = stream[.loss].largest {
            facts.append(("Loss", most > 0 ? "\(number(mean)) %, at most \(number(most)) %" : "none"))
        }
        if let trip = stream.usual[.roundTrip] { facts.append(("Round trip", "\(number(trip)) ms")) }
        return list(facts)
    }

    private static func list(_ facts: [(name: String, value: String)]) -> String {
        guard !facts.isEmpty else { return "" }
        let items = facts.map { "<div><dt>\($0.name)</dt><dd>\($0.value.escapedForMarkup)</dd></div>" }
        return "<dl>\(items.joined())</dl>\n"
    }
}
