/// The events in a sender's statistics.
extension EventFinder {
    /// The fall of a target bitrate that is reported: below this share of it, and by at least so many kbit/s.
    private static let notableFall = (share: 0.7, kilobits: 100.0)
    /// The number of seconds within which a further fall belongs to the same event.
    private static let fallTime = 3.0
    /// The milliseconds per frame above which encoding is slow: the next frame has arrived by then.
    private static let slowEncoding = 30.0
    /// The delay of packets in milliseconds that is reported.
    private static let notableQueue = 100.0

    mutating func findSent(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        findTargetFalls(stream, of: connection, in: place)
        findFewFrames(stream, of: connection, in: place)
        findDelays(stream, of: connection, in: place)
        findSizes(stream, in: place)
        findKeyFrames(stream, of: connection, in: place)
    }

    // MARK: Target bitrate

    private mutating func findTargetFalls(
        _ stream: StreamHistory, of connection: ConnectionHistory, in place: String
    ) {
        let target = stream[.target]
        // A target of 0 is that of a pause.
        let points = zip(target.times, target.values).filter { $0.1 > 0 }
        var index = 1
        while index < points.count {
            let time = points[index].0
            let before = points[..<index].reversed().prefix { time - $0.0 <= Self.fallTime }
            guard let top = before.max(by: { $0.1 < $1.1 }), isFall(from: top.1, to: points[index].1) else {
                index += 1
                continue
            }
            var low = points[index]
            while index + 1 < points.count, points[index + 1].0 - low.0 <= Self.fallTime {
                index += 1
                if points[index].1 < low.1 { low = points[index] }
            }
            add(
                .target, at: time, in: place,
                "the target fell from \(Self.number(top.1)) to \(Self.number(low.1)) kbit/s",
                because: reasonsForTarget(stream, connection, from: top.0, to: low.0))
            index += 1
        }
    }

    private func isFall(from top: Double, to value: Double) -> Bool {
        value <= top * Self.notableFall.share && top - value >= Self.notableFall.kilobits
    }

    private func reasonsForTarget(
        _ stream: StreamHistory, _ connection: ConnectionHistory, from: Double, to: Double
    ) -> [String] {
        let limits = connection.bitrateLimitation.names(from: from, to: to)
        var reasons = lossAndDelay(stream, from: from, to: to)
        let words = [
            ("delay", "the delay on the route grew"), ("loss", "packet loss limited the rate"),
            ("remote", "the viewer's own estimate limited the rate (REMB)"),
            ("feedback", "the viewer sent no feedback"),
            ("window", "more data was in flight than the route carries in one round trip"),
        ]
        reasons = words.filter { limits.contains($0.0) }.map(\.1) + reasons
        if stream.qualityLimitation.names(from: from, to: to).contains("cpu") {
            reasons.append("the machine was too slow")
        }
        let path = connection.available.values(from: from, to: to)
        if let top = path.first, let low = path.min(), low >= top * Self.notableFall.share {
            reasons.append("the estimate of this route stayed at \(Self.number(low)) kbit/s")
        }
        return reasons
    }

    // MARK: Frames and delays

    private mutating func findFewFrames(
        _ stream: StreamHistory, of connection: ConnectionHistory, in place: String
    ) {
        let source = stream[.sourceFrames]
        let few = stream[.frames].stretches(pause: 3) { time, frames in
            // The first and the last report around a pause may cover half a second.
            guard !connection.pauses.contains(where: { ($0.from - 1...$0.to + 1).contains(time) }) else { return false }
            return (source.value(at: time) ?? 0) >= 5 && frames < 0.5 * (source.value(at: time) ?? 0)
        }
        for stretch in few where stretch.count >= 2 {
            let given = source.values(from: stretch.from, to: stretch.to).max() ?? 0
            add(
                .frames, at: stretch.from, in: place,
                "only \(Self.number(stretch.smallest.rounded())) to \(Self.number(stretch.largest.rounded())) of "
                    + "\(Self.number(given)) frames per second were sent, for \(Self.number(stretch.to - stretch.from)) s",
                because: limits(stream, from: stretch.from, to: stretch.to)
                    + queue(stream, connection, from: stretch.from, to: stretch.to))
        }
    }

    private mutating func findDelays(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        for stretch in stream[.sendDelay].stretches(pause: 3, where: { $1 >= Self.notableQueue }) {
            add(
                .delay, at: stretch.from, in: place,
                "packets waited \(Self.milliseconds(stretch.largest)) in the queue",
                because: limits(stream, from: stretch.from, to: stretch.to))
        }
        guard let usual = stream.usual[.roundTrip] else { return }
        for stretch in stream[.roundTrip].stretches(pause: 3, where: { $1 >= max(2 * usual, usual + 100) }) {
            add(
                .delay, at: stretch.from, in: place,
                "the round trip took up to \(Self.milliseconds(stretch.largest)), usually \(Self.milliseconds(usual))")
        }
    }

    /// Returns the reasons why fewer or smaller frames were sent, and the dropped frames.
    func limits(_ stream: StreamHistory, from: Double, to: Double) -> [String] {
        let names = stream.qualityLimitation.names(from: from, to: to)
        var reasons: [String] = []
        if names.contains("cpu") { reasons.append("the machine was too slow (cpu)") }
        if names.contains("bandwidth") { reasons.append("the bitrate was too low (bandwidth)") }
        if let dropped = stream.largest(.framesDropped, from: from, to: to), dropped >= 1 {
            reasons.append("the sender dropped up to \(Self.number(dropped.rounded())) frames per second")
        }
        if let time = stream.largest(.codingTime, from: from, to: to), time >= Self.slowEncoding {
            reasons.append("encoding took up to \(Self.milliseconds(time)) per frame")
        }
        return reasons
    }

    /// Returns the delays at the sender.
    func queue(
        _ stream: StreamHistory, _ connection: ConnectionHistory, from: Double, to: Double
    ) -> [String] {
        let waited = max(
            stream.largest(.sendDelay, from: from, to: to) ?? 0, connection.queue.values(from: from, to: to).max() ?? 0)
        return waited >= 50 ? ["packets waited up to \(Self.milliseconds(waited)) at the sender"] : []
    }

    /// Returns the losses and delays of the route.
    func lossAndDelay(_ stream: StreamHistory, from: Double, to: Double) -> [String] {
        var reasons: [String] = []
        if let loss = stream.largest(.loss, from: from, to: to + 1), loss >= 1 {
            reasons.append("loss \(Self.number(loss)) %")
        }
        if let usual = stream.usual[.roundTrip], let longest = stream.largest(.roundTrip, from: from, to: to + 1),
            longest >= max(1.3 * usual, usual + 20)
        {
            reasons.append("round trip \(Self.milliseconds(longest)), usually \(Self.milliseconds(usual))")
        }
        return reasons
    }

    // MARK: Size

    private mutating func findSizes(_ stream: StreamHistory, in place: String) {
        let source = Self.sizes(stream, ofSource: true)
        for change in Self.sizes(stream).changes {
            var reasons: [String] = []
            if stream.sum(.resolutionChanges, from: change.time, to: change.time) > 0 {
                reasons = limits(stream, from: change.time - 2, to: change.time)
            } else if source.changes(from: change.time - 2, to: change.time + 2) {
                reasons = ["the source changed its size"]
            }
            add(
                .size, at: change.time, in: place, "the size changed from \(change.from) to \(change.to)",
                because: reasons)
        }
    }

    /// Returns the sizes of a stream's frames, or of its source's frames.
    static func sizes(_ stream: StreamHistory, ofSource: Bool = false) -> Steps {
        let width = stream[ofSource ? .sourceWidth : .width]
        let height = stream[ofSource ? .sourceHeight : .height]
        var sizes = Steps()
        for (time, value) in zip(width.times, width.values) where value > 0 {
            guard let other = height.value(at: time), other > 0 else { continue }
            sizes.append("\(Int(value))×\(Int(other))", at: time)
        }
        return sizes
    }

    // MARK: Key frames

    private mutating func findKeyFrames(_ stream: StreamHistory, of connection: ConnectionHistory, in place: String) {
        let (keys, sizes) = (stream[.keyFrames], Self.sizes(stream))
        for (time, count) in zip(keys.times, keys.values) where count > 0 {
            let from = time - max(1, connection.intervals.value(at: time) ?? 1) - 1
            // The others are reported a little later, and a new viewer up to a second after its key frame.
            let to = time + 0.5
            var reasons = requests(of: stream, from: from, to: time).map { "this viewer requested it: \($0)" }
            for other in history.connections where other.file == connection.file && other.name != connection.name {
                for asking in other.streams where asking.isVideo && asking.isSent && asking.id == stream.id {
                    reasons += requests(of: asking, from: from, to: to).map { "\(other.shortName) requested it: \($0)" }
                }
                if other.hasJoined, (from...time + 1.2).contains(other.first) {
                    reasons.append("\(other.shortName) joined")
                }
            }
            if (from...time).contains(connection.first) { reasons.append("this viewer joined") }
            if stream.sum(.drifts, from: from, to: time) > 0 {
                reasons.append("it corrects frames that had drifted")
            }
            if connection.source.changes(from: from, to: time) {
                reasons.append("the source changed")
            } else if sizes.changes(from: from, to: time) {
                reasons.append("the size changed")
            }
            if reasons.isEmpty { reasons = ["no RTCP request came before it"] }
            add(
                .keyFrame, at: time, in: place, count == 1 ? "a key frame" : "\(Self.number(count)) key frames",
                because: reasons)
        }
    }

    /// Returns the requests for key frames within a time.
    func requests(of stream: StreamHistory, from: Double, to: Double) -> [String] {
        let measures = [("PLI", StreamHistory.Measure.pictureLossIndications), ("FIR", .fullIntraRequests)]
        return measures.compactMap { name, measure in
            let count = stream.sum(measure, from: from, to: to)
            return count > 0 ? (count == 1 ? name : "\(Self.number(count)) \(name)") : nil
        }
    }
}
