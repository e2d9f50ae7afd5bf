/// The statistics in files over time: connections, their streams, and the measurements of each stream.
struct StatisticsHistory {
    private(set) var connections: [ConnectionHistory] = []
    /// The remarks about the files themselves for a reader of the page.
    var remarks: [String] = []

    private var counts: [[String: StreamCounts]] = []
    private var fragments: [Recent<String>] = []
    /// The connections by their synchronization sources.
    private var owners: [Source: Int] = [:]
    private var hasName: [Bool] = []
    private var ignoredReports = 0

    /// A synchronization source of a file.
    private struct Source: Hashable {
        let file: Int
        let number: Int
    }

    /// The minimum interval of reports; faster ones are ignored, because nothing writes so many.
    private static let shortestReportInterval = 0.02
    /// The minimum interval for rates: shorter ones are meaningless, as of the last report at the end of a share.
    private static let shortestInterval = 0.3
    /// The maximum number of connections in a file.
    private static let mostConnections = 1000
    /// The maximum number of streams of a connection.
    private static let mostStreams = 200

    /// The times of the first and the last report, in seconds since 1970.
    var span: (from: Double, to: Double)? {
        guard let from = connections.map(\.first).min(), let to = connections.map(\.last).max() else { return nil }
        return (from, to)
    }

    /// Returns the peer's statistics of a stream, if their file is given, too: they have the same synchronization
    /// source.
    func counterpart(of stream: StreamHistory) -> (connection: ConnectionHistory, stream: StreamHistory)? {
        guard connections.contains(where: { $0.file != connections[0].file }) else { return nil }
        for connection in connections {
            for other in connection.streams
            where other.isSent != stream.isSent && !other.sources.members.isDisjoint(with: stream.sources.members) {
                return (connection, other)
            }
        }
        return nil
    }

    /// Reads a file to its end.
    mutating func read(_ path: String, file: Int) throws(CommandFailure) {
        var lines = try StatisticsLines(path: path)
        let before = connections.count
        while let report = try lines.next() { add(report, file: file) }
        guard connections.count > before else {
            throw CommandFailure(
                .badInput, "the reports in \(lines.name) are empty: the share may have ended before there was a viewer")
        }
        if lines.isCutOff {
            remarks.append("Line \(lines.lineNumber) of \(lines.name) is truncated, and is left out.")
        }
        if ignoredReports > 0 {
            remarks.append("\(ignoredReports) reports of \(lines.name) go back in time, and are left out.")
            ignoredReports = 0
        }
        for index in connections.indices.dropFirst(before) {
            if connections.count == before + 1, !hasName[index] { connections[index].name = "The viewer" }
            connections[index].finish()
            let resets = connections[index].streams.reduce(0) { $0 + $1.resets }
            guard resets > 0 else { continue }
            remarks.append(
                "\(connections[index].place): the counters restarted \(resets == 1 ? "once" : "\(resets) times"). No rate spans a restart."
            )
        }
    }

    /// Adds the next report of a file.
    mutating func add(_ report: [ReportedObject], file: Int) {
        let transport = report.first { $0.type == "transport" }
        guard let time = (transport ?? report.first)?.time,
            let index = connection(of: report, transport: transport, file: file, at: time)
        else { return }
        let isNew = counts[index].isEmpty && connections[index].first == time
        guard isNew || time >= connections[index].last + Self.shortestReportInterval else {
            if time < connections[index].last { ignoredReports += 1 }
            return
        }
        if !isNew { connections[index].intervals.append(time - connections[index].last, at: time) }
        connections[index].last = time
        let byID = Dictionary(report.map { ($0.id, $0) }) { first, _ in first }
        addTransport(transport, byID, to: index, at: time)
        for object in report where object.type == "outbound-rtp" || object.type == "inbound-rtp" {
            addStream(object, byID, to: index, at: time)
        }
    }

    // MARK: Connections

    /// Returns the connection of a report: by the sender's number of the viewer, otherwise by its streams or by its ICE
    /// user name.
    private mutating func connection(
        of report: [ReportedObject], transport: ReportedObject?, file: Int, at time: Double
    ) -> Int? {
        let viewer = transport?.number("viewer").map { Int($0) }
        let fragment = transport?.text("iceLocalUsernameFragment")
        let streams = report.filter { $0.type == "outbound-rtp" || $0.type == "inbound-rtp" }
        let sources = Set(streams.compactMap { $0.number("ssrc").map { Int($0) } })
        let owner = sources.compactMap { owners[Source(file: file, number: $0)] }.min()
        let found = connections.indices.first { index in
            guard connections[index].file == file else { return false }
            if viewer != nil || connections[index].viewer != nil { return connections[index].viewer == viewer }
            if let fragment, fragments[index].members.contains(fragment) { return true }
            if owner == index { return true }
            // A report that names neither belongs to the connection before.
            guard fragment == nil else { return false }
            return sources.isEmpty || connections[index].streams.allSatisfy(\.sources.members.isEmpty)
        }
        let name = transport?.text("viewerName")
        if let found {
            if let fragment { _ = fragments[found].insert(fragment) }
            if let name { connections[found].name = name }
            return found
        }
        guard connections.count < Self.mostConnections else { return nil }
        let number = connections.count { $0.file == file } + 1
        connections.append(
            ConnectionHistory(file: file, viewer: viewer, name: name ?? "Viewer \(number)", first: time, last: time))
        hasName.append(name != nil)
        counts.append([:])
        fragments.append(Recent())
        if let fragment { _ = fragments[connections.count - 1].insert(fragment) }
        return connections.count - 1
    }

    private mutating func addTransport(
        _ transport: ReportedObject?, _ byID: [String: ReportedObject], to index: Int, at time: Double
    ) {
        guard let transport else { return }
        connections[index].iceState.append(transport.text("iceState"), at: time)
        connections[index].bitrateLimitation.append(transport.text("bitrateLimitation"), at: time)
        connections[index].queue.append(transport.number("packetSendQueueDuration").map { $0 * 1000 }, at: time)
        guard let pair = transport.text("selectedCandidatePairId").flatMap({ byID[$0] }) else { return }
        connections[index].available.append(pair.number("availableOutgoingBitrate").map { $0 / 1000 }, at: time)
        connections[index].pathRoundTrip.append(pair.number("currentRoundTripTime").map { $0 * 1000 }, at: time)
        let ends = ["localCandidateId", "remoteCandidateId"].map { name in
            pair.text(name).flatMap { byID[$0] }.map(Self.end) ?? "unknown"
        }
        connections[index].path.append(ends.joined(separator: " → "), at: time)
    }

    /// Returns an end of a candidate pair: `192.0.2.1:50000 (relay)`.
    private static func end(_ candidate: ReportedObject) -> String {
        let address = candidate.text("address") ?? candidate.text("ip") ?? "hidden"
        let port = candidate.number("port").map { ":\(Int($0))" } ?? ""
        let isTCP = candidate.text("protocol") == "tcp"
        let kind = [candidate.text("candidateType"), isTCP ? "TCP" : nil].compactMap { $0 }.joined(separator: ", ")
        return (address.contains(":") ? "[\(address)]" : address) + port + (kind.isEmpty ? "" : " (\(kind))")
    }

    // MARK: Streams

    private mutating func addStream(
        _ object: ReportedObject, _ byID: [String: ReportedObject], to index: Int, at time: Double
    ) {
        let isVideo = (object.text("kind") ?? object.text("mediaType")) == "video"
        let isSent = object.type == "outbound-rtp"
        let position: Int
        if let known = connections[index].streams.firstIndex(where: { $0.id == object.id }) {
            position = known
        } else {
            guard connections[index].streams.count < Self.mostStreams else { return }
            position = connections[index].streams.count
            connections[index].streams.append(StreamHistory(id: object.id, isSent: isSent, isVideo: isVideo))
        }
        // In place: a copy would contain everything that was read so far.
        var counts = counts[index][object.id] ?? StreamCounts()
        let source = object.number("ssrc").map { Int($0) }
        if let source {
            let file = connections[index].file
            owners[Source(file: file, number: source)] = owners[Source(file: file, number: source)] ?? index
            if let forgotten = connections[index].streams[position].sources.insert(source) {
                owners[Source(file: file, number: forgotten)] = nil
            }
        }
        let media = object.text("mediaSourceId").flatMap { byID[$0] }
        connections[index].streams[position].addState(object, media: media, at: time)
        if let media, isSent, isVideo { addShare(media, to: index, at: time) }
        let remote = object.text("remoteId").flatMap { byID[$0] }
        if let interval = counts.interval(to: time, shortest: Self.shortestInterval) {
            counts.advance(to: time, source: source)
            connections[index].streams[position].addRates(
                object, remote: remote, over: interval, counts: &counts, at: time)
            connections[index].streams[position].resets += counts.takeResets()
        }
        self.counts[index][object.id] = counts
    }

    private mutating func addShare(_ media: ReportedObject, to index: Int, at time: Double) {
        guard let isPaused = media.flag("sharePaused") else { return }
        connections[index].source.append(media.text("shareSource"), at: time)
        connections[index].paused.append(isPaused ? ConnectionHistory.yes : ConnectionHistory.no, at: time)
        connections[index].interruption.append(media.text("shareInterruption") ?? "", at: time)
    }
}
