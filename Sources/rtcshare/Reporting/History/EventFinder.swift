internal import FoundationEssentials

/// Finds the events in a history that users might have noticed, with the reasons in the statistics of that time.
struct EventFinder {
    let history: StatisticsHistory
    private(set) var events: [NotableEvent] = []

    /// The number of seconds within which the same event in several places is reported once.
    private static let sameTime = 1.5

    /// Returns all events, in order.
    static func events(in history: StatisticsHistory) -> [NotableEvent] {
        var finder = EventFinder(history: history)
        for connection in history.connections { finder.find(in: connection) }
        return finder.merged()
    }

    /// Creates a finder without events.
    init(history: StatisticsHistory) {
        self.history = history
    }

    mutating func add(
        _ kind: NotableEvent.Kind, at time: Double, in place: String, _ what: String, because reasons: [String] = []
    ) {
        events.append(NotableEvent(time: time, kind: kind, place: place, what: what, reasons: reasons))
    }

    private mutating func find(in connection: ConnectionHistory) {
        findCourse(of: connection)
        let videos = connection.streams.filter(\.isVideo)
        for stream in videos {
            let place = self.place(of: stream, among: videos, in: connection)
            if stream.isSent {
                findSent(stream, of: connection, in: place)
            } else {
                findReceived(stream, of: connection, in: place)
            }
            findLoss(stream, in: place)
        }
        for stream in connection.streams where !stream.isVideo { findSound(stream, in: connection.place) }
    }

    /// Returns the place of a stream's events. A connection with a single video needs no name for it.
    private func place(
        of stream: StreamHistory, among videos: [StreamHistory], in connection: ConnectionHistory
    ) -> String {
        let alike = videos.filter { $0.isSent == stream.isSent }
        guard alike.count > 1, let number = alike.firstIndex(where: { $0.id == stream.id }) else {
            return connection.place
        }
        return "\(connection.place), video \(number + 1)"
    }

    // MARK: Connection

    private mutating func findCourse(of connection: ConnectionHistory) {
        let place = connection.place
        let own = history.connections.filter { $0.file == connection.file }
        let begin = own.map(\.first).min() ?? connection.first
        let end = own.map(\.last).max() ?? connection.last
        if connection.first > begin + 2 {
            add(.viewer, at: connection.first, in: place, connection.hasJoined ? "joined" : "was invited")
        }
        if connection.hasJoined, connection.last < end - 2 { add(.viewer, at: connection.last, in: place, "left") }
        for change in connection.iceState.changes where Self.isAlarming(change.to) || Self.isAlarming(change.from) {
            add(.connection, at: change.time, in: place, "the connection changed from \(change.from) to \(change.to)")
        }
        for change in connection.path.changes {
            add(.route, at: change.time, in: place, "the route changed from \(change.from) to \(change.to)")
        }
        for change in connection.source.changes {
            add(.source, at: change.time, in: place, "the source changed from \(change.from) to \(change.to)")
        }
        for change in connection.paused.changes {
            let isPaused = change.to == ConnectionHistory.yes
            add(.source, at: change.time, in: place, isPaused ? "the share was paused" : "the share was resumed")
        }
        for (time, reason) in zip(connection.interruption.times, connection.interruption.names) {
            guard !reason.isEmpty else {
                if time > connection.first { add(.source, at: time, in: place, "the source sends frames again") }
                continue
            }
            add(.source, at: time, in: place, "the source sends no frames: \(reason)")
        }
        for gap in connection.gaps {
            let seconds = Self.number(gap.to - gap.from)
            add(.gap, at: gap.from, in: place, "no statistics for \(seconds) s")
        }
    }

    static func isAlarming(_ state: String) -> Bool { ["disconnected", "failed"].contains(state) }

    // MARK: Both sides

    /// The loss in percent of the packets that is reported.
    static let notableLoss = 3.0

    private mutating func findLoss(_ stream: StreamHistory, in place: String) {
        for stretch in stream[.loss].stretches(pause: 5, where: { $1 >= Self.notableLoss }) {
            let length = stretch.count > 1 ? " within \(Self.number(stretch.to - stretch.from)) s" : ""
            add(.loss, at: stretch.from, in: place, "loss of up to \(Self.number(stretch.largest)) %\(length)")
        }
    }

    private mutating func findSound(_ stream: StreamHistory, in place: String) {
        for stretch in stream[.concealed].stretches(pause: 5, where: { $1 >= 5 }) {
            let (from, to) = (stretch.from - 1, stretch.to)
            let sender = history.counterpart(of: stream)
            let rests = sender.map { Self.rests(of: $0.connection, $0.stream, from: from, to: to) } ?? []
            add(
                .audio, at: stretch.from, in: place,
                "up to \(Self.number(stretch.largest)) % of the audio was filled in for lost packets",
                because: rests + lossAndDelay(stream, from: from, to: to - 1))
        }
    }

    // MARK: Order

    /// Returns the events in order of time, with the same event in several places at the same time as one.
    private func merged() -> [NotableEvent] {
        var merged: [NotableEvent] = []
        var newest: [[String]: Int] = [:]
        for event in events.sorted(by: { ($0.time, $0.place) < ($1.time, $1.place) }) {
            let key = [event.kind.rawValue, event.what] + event.reasons
            if event.kind != .viewer, let same = newest[key], event.time - merged[same].time <= Self.sameTime,
                merged[same].place != event.place
            {
                merged[same].place += "; \(event.place)"
            } else {
                newest[key] = merged.count
                merged.append(event)
            }
        }
        return merged
    }

    /// Returns milliseconds, rounded except for small numbers.
    static func milliseconds(_ value: Double) -> String { number(value < 10 ? value : value.rounded()) + " ms" }

    /// Returns a number with up to three significant digits: `0.42`, `7.1`, `2100`.
    static func number(_ value: Double) -> String {
        let digits = abs(value) >= 100 || value == value.rounded() ? 0 : abs(value) >= 1 ? 1 : 2
        let text = String(printing: "%.\(digits)f", value)
        return digits > 0 && text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
