internal import RTCShareLocks
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The course of a running share: what follows from each occurrence, and the words for it.
@SharingActor struct ShareCourse {
    let share: RunningShare
    let statistics: StatisticsWriter?
    /// Called when a viewer or a server receives the share, or when the share is stopped before that.
    let consume: () throws -> Void
    /// Ends the share when its duration is over.
    let limitDuration: () -> Void
    private var line = ShareStatus()
    private var rates = ShareStatus()
    private var wasConnected = false
    private var beginnings: FirstAttempts
    private var seconds = 0

    /// How often what viewers, sources and encodings left is given back to the system while the share runs.
    private static let secondsBetweenTrims = 60
    private static let end = "The share has ended: its source has ended."

    init(
        _ share: RunningShare, statistics: StatisticsWriter?, consume: @escaping () throws -> Void,
        limitDuration: @escaping () -> Void
    ) {
        (self.share, self.statistics) = (share, statistics)
        (self.consume, self.limitDuration) = (consume, limitDuration)
        beginnings = FirstAttempts(count: share.places.count)
    }

    /// Does what follows from an occurrence, and returns whether the share continues.
    mutating func handle(_ occurrence: Share.Occurrence) async throws -> Bool {
        switch occurrence {
        case .viewer(let viewer, let state) where state.isOver: return try await viewerDidEnd(viewer)
        case .viewer(let viewer, let state): try await follow(viewer, in: state)
        case .place(let occurrence): try await handle(occurrence)
        case .served(let event): handle(event)
        case .sourceIsSilent(let time):
            Terminal.shared.say("The source has given no frame for \(time.seconds.inSeconds). The share waits for one.")
        case .otherSourceEnded(let source, let error): await sourceDidEnd(source, error)
        case .interrupted, .stopRequested:
            if !wasConnected { try consume() }
            return ends(Share.stop)
        case .sessionRemoved: return ends("The share has ended: its session file was removed.")
        case .durationOver: return ends("The share has ended after \((share.options.output.duration ?? 0).inSeconds).")
        case .sourceEnded(let error):
            if share.content.isPaused { return true }
            if let error { throw error }
            return ends(Self.end)
        case .captureEnded: return try await captureDidEnd()
        case .second: return try await secondDidPass()
        case .statusDue: await showStatus()
        }
        return true
    }

    private func ends(_ words: String) -> Bool {
        Terminal.shared.say(words)
        return false
    }

    /// Begins what waits for the first viewer or server.
    private mutating func didReachReceiver() async throws {
        guard !wasConnected else { return }
        wasConnected = true
        try consume()
        guard !share.isServed else { return }
        try await share.startCapture()
        limitDuration()
    }

    // MARK: Viewers and servers

    private mutating func follow(_ viewer: Int, in state: ConnectionState) async throws {
        let isFirst = share.viewers[viewer]?.hasConnected == false
        if state == .connected, isFirst {
            try await checkVideo(of: viewer)
            try await didReachReceiver()
        }
        await report(state, of: viewer, isFirst: isFirst)
    }

    /// Fails if the only invited viewer rejects the video: no other viewer is there to share to.
    private func checkVideo(of viewer: Int) async throws {
        let viewers = share.viewers
        guard !viewers.outlivesViewers, viewers.sessions.count == 1,
            await share.room.refusedMedia(of: viewer).contains(.content)
        else { return }
        throw CommandFailure(.unavailable, "\(ContentShareStatus.refusedByPeer)")
    }

    private func report(_ state: ConnectionState, of viewer: Int, isFirst: Bool) async {
        guard share.viewer(viewer, is: state) else { return }
        let name = share.viewers.name(of: viewer)
        switch state {
        case .connected where isFirst:
            // One line reports a viewer who waits to be admitted.
            if share.room.viewers.first(where: { $0.id == viewer })?.membership.isWaiting != true {
                Terminal.shared.say("\(name) is connected.")
            }
            for media in await share.room.refusedMedia(of: viewer) {
                Terminal.shared.say("\(name) receives no \(media.name): its answer rejects it.")
            }
        case .disconnected: Terminal.shared.say("\(name) does not answer. Waiting for it to come back.")
        case .connected: Terminal.shared.say("\(name) is back.")
        case .new, .connecting, .failed, .closed: return
        }
    }

    /// Reports that a viewer is gone, and returns whether the share continues: one for invited viewers ends with the last.
    private func viewerDidEnd(_ viewer: Int) async throws -> Bool {
        let name = share.viewers.name(of: viewer)
        let error = share.viewers.session(of: viewer)?.failure
        let isRemoved = share.viewers.isBeingRemoved(viewer)
        let others = share.viewers.end(viewer)
        let continues = share.viewers.outlivesViewers || others > 0
        if !continues, let error { throw error }
        if !isRemoved { Terminal.shared.say(Self.departure(of: name, goneBy: error)) }
        return continues || ends("The share has ended: no viewer is left.")
    }

    /// The report of a viewer's end.
    nonisolated static func departure(of name: String, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["\(name) left."] }
        return CommandFailure(explaining: error).lines(after: "\(name) is disconnected: ")
    }

    private mutating func handle(_ occurrence: PublishingServers.Occurrence) async throws {
        if case .failed(let error, let retryPolicy, _) = occurrence.event, share.goesOnlyToServers {
            let noneBegan = beginnings.note(occurrence.place, retryPolicy) && !wasConnected
            let isHopeless = await share.places.areGivenUp
            if noneBegan || isHopeless { throw error }
        }
        Terminal.shared.say(share.places.words(for: occurrence))
        guard case .published(let place, _) = occurrence.event else { return }
        share.limit(place)
        try await didReachReceiver()
    }

    private func handle(_ event: ViewerServer.Event) {
        switch event {
        case .joined(let viewer, let served): share.add(viewer, as: served)
        case .waiting(let served):
            let name = share.viewers.name(of: served.id)
            Terminal.shared.say(
                "\(name) is waiting to be admitted. Run: \(share.command("admit \(served.id)"))")
        }
    }

    // MARK: Sources

    private func sourceDidEnd(_ source: SourceListener, _ error: CaptureSourceError?) async {
        await share.sourceDidEnd(source)
        guard let error else {
            return Terminal.shared.say("The \(source.role.rawValue) has ended. The share continues without it.")
        }
        let introduction = "The \(source.role.rawValue) is gone. The share continues without it: "
        Terminal.shared.say(CommandFailure(explaining: error).lines(after: introduction))
    }

    private func captureDidEnd() async throws -> Bool {
        if let loss = share.content.lossDuringPause {
            Terminal.shared.say(CommandFailure(.unavailable, loss).lines(after: "The share stays paused: "))
        }
        return try await !hasEndedUnseen()
    }

    /// Whether the capture has ended, and no viewer is there to see its last frame. If viewers are there, the frames before the
    /// end are sent first: ``Share/Occurrence/sourceEnded(_:)`` follows them.
    /// - Throws: why it has ended, if that was not requested.
    private func hasEndedUnseen() async throws -> Bool {
        guard share.options.output.record == nil, await !share.isAnyConnected, let end = share.contentEnd
        else { return false }
        try end.get()
        Terminal.shared.say(Self.end)
        return true
    }

    // MARK: Reports

    private mutating func secondDidPass() async throws -> Bool {
        Terminal.shared.flush()
        if try await hasEndedUnseen() { return false }
        await writeReports()
        share.rates = rates.rates(for: await summaries)
        seconds += 1
        if seconds.isMultiple(of: Self.secondsBetweenTrims) {
            WorkerThread.start(named: "memory") { ProcessMemory.giveBack() }
        }
        return true
    }

    private mutating func showStatus() async {
        guard await share.isAnyConnected else { return }
        Terminal.shared.status(line.line(for: await summaries, places: await share.places.publishedCount))
    }

    /// The counts of each viewer's connection.
    private var summaries: [Int: SendingSummary] {
        get async {
            let receivers = await share.receivers
            let summaries = await Connection.summaries(of: receivers.map(\.session.connection))
            return receivers.reduce(into: [:]) { $0[$1.viewer] = summaries[ObjectIdentifier($1.session.connection)] }
        }
    }

    /// Writes a report of each viewer's connection, in the order in which they came.
    func writeReports() async {
        guard let statistics else { return }
        var reports: [StatisticsReport] = []
        let content = share.content
        let source = SourceFacts(
            shareSource: content.current.specification, sharePaused: content.isPaused,
            shareInterruption: share.interruption)
        for (viewer, name, session) in await share.receivers {
            // The session of a viewer who has left the room still has its own report.
            var report = if let report = await share.room.stats(of: viewer) { report } else { await session.stats() }
            report.add(ViewerFacts(viewer: viewer, viewerName: name), to: StatisticsReport.transportID)
            // The content is the first of the video.
            let video = report.mediaSources.filter { $0.value.kind == .video }
            if let content = video.min(by: { $0.key < $1.key }) { report.add(source, to: content.value.id) }
            reports.append(report)
        }
        statistics.write(reports)
    }
}

/// The members of a viewer's `transport` that its connection does not know.
private struct ViewerFacts: Encodable {
    let viewer: Int
    let viewerName: String
}

/// The members of the content's `media-source` that a connection does not know.
private struct SourceFacts: Encodable {
    let shareSource: String
    let sharePaused: Bool
    let shareInterruption: String?
}

extension SharedMedia {
    /// Its name for people.
    fileprivate var name: String {
        switch self {
        case .content: "video"
        case .contentAudio: "audio"
        case .camera: "camera"
        case .microphone: "microphone"
        }
    }
}
