/// The events in a viewer's statistics.
extension EventFinder {
    mutating func findReceived(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        findFreezes(stream, of: connection, in: place)
        findPauses(stream, of: connection, in: place)
        findStops(stream, of: connection, in: place)
        findReceivedKeyFrames(stream, of: connection, in: place)
        for change in Self.sizes(stream).changes {
            add(.size, at: change.time, in: place, "the size changed from \(change.from) to \(change.to)")
        }
        let decoding = stream[.codingTime]
        for stretch in decoding.stretches(pause: 3, where: { $1 >= 30 }) where stretch.count >= 2 {
            add(
                .frames, at: stretch.from, in: place,
                "decoding took up to \(Self.milliseconds(stretch.largest)) per frame")
        }
    }

    /// The freezes in a report.
    struct Freezes {
        /// The time of the report, in seconds since 1970.
        let time: Double
        let count: Double
        /// The total duration in milliseconds.
        let length: Double
        /// The reasons in the statistics of that time.
        let reasons: [String]
        /// Whether only an idle screen caused them: frames arrived as rarely as they were sent.
        let isRest: Bool
    }

    /// Returns the freezes of a stream, by report.
    func freezes(of stream: StreamHistory, in connection: ConnectionHistory) -> [Freezes] {
        let freezes = stream[.freezes]
        let sender = history.counterpart(of: stream)
        var before = -Double.infinity
        return zip(freezes.times, freezes.values).filter { $1 > 0 }.map { time, count in
            let length = stream.sum(.frozen, from: time, to: time)
            // Freezes do not overlap, whatever their durations in a file.
            let begin = max(time - max(connection.intervals.value(at: time) ?? 1, length / 1000), before)
            let from = begin - 1
            before = time
            let disturbances = disturbances(stream, connection, sender, from: from, to: time)
            guard disturbances.isEmpty else {
                return Freezes(time: time, count: count, length: length, reasons: disturbances, isRest: false)
            }
            let (rests, isCertain) = rarePictures(stream, sender, from: from, to: time)
            return Freezes(time: time, count: count, length: length, reasons: rests, isRest: isCertain)
        }
    }

    private mutating func findFreezes(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        let all = freezes(of: stream, in: connection)
        for freezes in all where !freezes.isRest {
            let length = freezes.length > 0 ? Self.milliseconds(freezes.length) : nil
            let what =
                freezes.count == 1
                ? "a freeze" + (length.map { " of \($0)" } ?? "")
                : "\(Self.number(freezes.count)) freezes" + (length.map { ", \($0) in total" } ?? "")
            add(.freeze, at: freezes.time, in: place, what, because: freezes.reasons)
        }
        var (rests, counts) = (Series(), Series())
        var reasons: [Double: [String]] = [:]
        for freezes in all {
            counts.append(freezes.count, at: freezes.time)
            reasons[freezes.time] = freezes.reasons
            if freezes.isRest { rests.append(freezes.length / freezes.count, at: freezes.time) }
        }
        for stretch in rests.stretches(pause: 5, where: { _, _ in true }) {
            let count = counts.values(from: stretch.from, to: stretch.to).reduce(0, +)
            add(
                .rest, at: stretch.from, in: place,
                "frames up to \(Self.milliseconds(stretch.largest)) apart (freezeCount grows by \(Self.number(count)))",
                because: reasons[stretch.from] ?? [])
        }
    }

    /// Finds gaps of more than five seconds, which webrtc-stats calls pauses.
    private mutating func findPauses(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        let sender = history.counterpart(of: stream)
        var before = -Double.infinity
        for (time, seconds) in zip(stream[.paused].times, stream[.paused].values) where seconds > 0 {
            add(
                .freeze, at: time - seconds, in: place, "no video for \(Self.number(seconds)) s",
                because: reasons(stream, connection, sender, from: max(time - seconds, before), to: time))
            before = time
        }
    }

    /// Finds stops: without counts of freezes (of an old version, or of another program) a second without a frame is
    /// one.
    private mutating func findStops(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        guard stream[.freezes].isEmpty else { return }
        let sender = history.counterpart(of: stream)
        for stretch in stream[.frames].stretches(pause: 1.5, where: { $1 == 0 }) {
            let seconds = stretch.to - stretch.from + (connection.intervals.value(at: stretch.from) ?? 1)
            add(
                .freeze, at: stretch.from, in: place, "no video for about \(Self.number(seconds.rounded())) s",
                because: reasons(stream, connection, sender, from: stretch.from - 1, to: stretch.to))
        }
    }

    private mutating func findReceivedKeyFrames(
        _ stream: StreamHistory, of connection: ConnectionHistory, in place: String
    ) {
        let keys = stream[.keyFrames]
        for (time, count) in zip(keys.times, keys.values) where count > 0 {
            let from = time - (connection.intervals.value(at: time) ?? 1) - 1
            let asked = requests(of: stream, from: from, to: time)
            add(
                .keyFrame, at: time, in: place, count == 1 ? "a key frame" : "\(Self.number(count)) key frames",
                because: asked.isEmpty
                    ? ["this viewer did not request it"] : asked.map { "this viewer requested it: \($0)" })
        }
    }

    // MARK: Reasons

    /// The peer's statistics of a stream, if their file is given, too.
    private typealias Counterpart = (connection: ConnectionHistory, stream: StreamHistory)

    /// Returns the reasons for missing frames in the statistics of a time.
    private func reasons(
        _ stream: StreamHistory, _ connection: ConnectionHistory, _ sender: Counterpart?, from: Double, to: Double
    ) -> [String] {
        let reasons = disturbances(stream, connection, sender, from: from, to: to)
        return reasons.isEmpty ? rarePictures(stream, sender, from: from, to: to).reasons : reasons
    }

    /// Returns disturbances and actions.
    private func disturbances(
        _ stream: StreamHistory, _ connection: ConnectionHistory, _ sender: Counterpart?, from: Double, to: Double
    ) -> [String] {
        var reasons = connection.iceState.names(from: from, to: to).filter(Self.isAlarming).sorted()
            .map { "the connection was \($0)" }
        if let gap = connection.gaps.first(from: from, to: to) {
            reasons.append("no statistics for \(Self.number(gap.to - gap.from)) s")
        }
        if let sender { reasons += Self.rests(of: sender.connection, sender.stream, from: from, to: to) }
        reasons += own(stream, from: from, to: to)
        if let sender {
            reasons += queue(sender.stream, sender.connection, from: from, to: to)
            reasons += limits(sender.stream, from: from, to: to)
        }
        return reasons
    }

    /// The maximum frame rate of a source that hardly changes.
    private static let restingSource = 5.0
    /// The maximum frame rate of an idle screen and, before that, the maximum one at which it was not playing a video.
    private static let rarest = (resting: 2.0, before: 20.0)

    /// Returns the reasons for rare frames without a disturbance, and whether there were no more to send.
    private func rarePictures(
        _ stream: StreamHistory, _ sender: Counterpart?, from: Double, to: Double
    ) -> (reasons: [String], isRest: Bool) {
        if let sender,
            let given = sender.stream[.sourceFrames].values(from: to - 1.2, to: to + 1).min(),
            given < Self.restingSource
        {
            return (["the source hardly changed: \(Self.number(given)) frames per second"], true)
        }
        let frames = stream[.frames]
        guard let now = frames.value(at: to), let usual = stream.usual[.frames], now < usual || now < Self.restingSource
        else { return ([], false) }
        let isRest =
            now <= Self.rarest.resting
            && frames.values(from: from - 1, to: to).allSatisfy { $0 < Self.rarest.before }
        let seen = "no packets were lost: the sender sent few frames (\(Self.number(now.rounded())) in that second)"
        return ([isRest ? seen + ", as for an idle screen" : seen], isRest)
    }

    /// Returns the reasons in the viewer's own counts.
    private func own(_ stream: StreamHistory, from: Double, to: Double) -> [String] {
        var reasons = lossAndDelay(stream, from: from, to: to - 1)
        let nacks = stream.sum(.nacks, from: from, to: to)
        if nacks > 0 { reasons.append("packets were requested again (\(Self.number(nacks)) NACK)") }
        let asked = requests(of: stream, from: from, to: to)
        if !asked.isEmpty { reasons.append("a key frame was requested (\(asked.joined(separator: ", ")))") }
        if let dropped = stream.largest(.framesDropped, from: from, to: to), dropped >= 0.5 {
            reasons.append("up to \(Self.number(dropped.rounded())) frames per second were dropped")
        }
        if let decoding = stream.largest(.codingTime, from: from, to: to), decoding >= 30 {
            reasons.append("decoding took \(Self.milliseconds(decoding)) per frame")
        }
        if let jitter = stream.largest(.jitter, from: from, to: to), let usual = stream.usual[.jitter],
            jitter >= max(2 * usual, 20)
        {
            reasons.append("packets arrived unevenly (jitter \(Self.milliseconds(jitter)))")
        }
        return reasons
    }

    /// Returns whether the share was paused or interrupted, by the sender's statistics.
    static func rests(
        of connection: ConnectionHistory, _ stream: StreamHistory, from: Double, to: Double
    ) -> [String] {
        var reasons: [String] = []
        if connection.pauses.first(from: from, to: to) != nil {
            reasons.append("the share was paused")
        } else if connection.paused.isEmpty, stream[.target].values(from: from, to: to).contains(0) {
            reasons.append("the sender’s target was 0: the share was paused or idle")
        }
        if connection.source.changes(from: from, to: to) {
            reasons.append("the source changed")
        }
        reasons += connection.interruption.names(from: from, to: to).filter { !$0.isEmpty }.sorted()
            .map { "the source sent no frames: \($0)" }
        return reasons
    }
}
