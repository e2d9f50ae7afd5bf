internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The course of a running share: what follows from each occurrence, and the words for it.
struct ShareCourse {
    let room: SharingRoom
    let options: SharingOptions
    let control: ShareControl
    let statistics: StatisticsWriter?
    /// Called when a viewer or a server receives the share, or when the share is stopped before that.
    let consume: () throws -> Void
    /// Ends the share when its duration is over.
    let limitDuration: () -> Void
    private var line = ShareStatus()
    private var rates = ShareStatus()
    private var wasConnected = false
    private var beginnings: PlaceBeginnings
    private var seconds = 0

    /// How often what viewers, sources and encodings left is given back to the system while the share runs.
    private static let secondsBetweenTrims = 60
    private static let end = "The share has ended: its source has ended."

    init(
        _ share: Share, control: ShareControl, statistics: StatisticsWriter?, consume: @escaping () throws -> Void,
        limitDuration: @escaping () -> Void
    ) {
        (room, options) = (share.room, share.options)
        (self.control, self.statistics) = (control, statistics)
        (self.consume, self.limitDuration) = (consume, limitDuration)
        beginnings = PlaceBeginnings(count: control.places.count)
    }

    /// Does what follows from an occurrence, and returns whether the share continues.
    mutating func handle(_ occurrence: Share.Occurrence) async throws -> Bool {
        switch occurrence {
        case .viewer(let viewer, let state) where state.isOver: return try await viewerDidEnd(viewer)
        case .viewer(let viewer, let state): try await follow(viewer, in: state)
        case .place(let occurrence): try await handle(occurrence)
        case .served(let event): await handle(event)
        case .sourceIsSilent(let time):
            Terminal.shared.say("The source has given no frame for \(time.seconds.inSeconds). The share waits for one.")
        case .otherSourceEnded(let source, let error): await sourceDidEnd(source, error)
        case .interrupted, .stopRequested:
            if !wasConnected { try consume() }
            return ends(Share.stop)
        case .sessionRemoved: return ends("The share has ended: its session file was removed.")
        case .durationOver: return ends("The share has ended after \((options.output.duration ?? 0).inSeconds).")
        case .sourceEnded(let error):
            if await control.sources.isPaused { return true }
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
        guard await !control.isServed else { return }
        try await control.startCapture()
        limitDuration()
    }

    // MARK: Viewers and servers

    private mutating func follow(_ viewer: Int, in state: ConnectionState) async throws {
        let isFirst = await control.viewers[viewer]?.hasConnected == false
        if state == .connected, isFirst {
            try await checkVideo(of: viewer)
            try await didReachReceiver()
        }
        await report(state, of: viewer, isFirst: isFirst)
    }

    /// Fails if the only invited viewer rejects the video: no other viewer is there to share to.
    private func checkVideo(of viewer: Int) async throws {
        let viewers = await control.viewers
        guard !viewers.outlivesViewers, viewers.sessions.count == 1,
            await room.refusedMedia(of: viewer).contains(.content)
        else { return }
        throw CommandFailure(.unavailable, "\(ContentShareStatus.refusedByPeer)")
    }

    private func report(_ state: ConnectionState, of viewer: Int, isFirst: Bool) async {
        guard await control.viewer(viewer, is: state) else { return }
        let name = await control.viewers.name(of: viewer)
        switch state {
        case .connected where isFirst:
            // One line reports a viewer who waits to be admitted.
            if await room.viewers.first(where: { $0.id == viewer })?.membership.isWaiting != true {
                Terminal.shared.say("\(name) is connected.")
            }
            for media in await room.refusedMedia(of: viewer) {
                Terminal.shared.say("\(name) receives no \(media.name): its answer rejects it.")
            }
        case .disconnected: Terminal.shared.say("\(name) does not answer. Waiting for it to come back.")
        case .connected: Terminal.shared.say("\(name) is back.")
        case .new, .connecting, .failed, .closed: return
        }
    }

    /// Reports that a viewer is gone, and returns whether the share continues: one for invited viewers ends with the last.
    private func viewerDidEnd(_ viewer: Int) async throws -> Bool {
        let name = await control.viewers.name(of: viewer)
        let error = await control.viewers.session(of: viewer)?.failure
        let isRemoved = await control.viewers.isBeingRemoved(viewer)
        let others = await control.viewerDidEnd(viewer)
        let continues = await control.viewers.outlivesViewers || others > 0
        if !continues, let error { throw error }
        if !isRemoved { Terminal.shared.say(Self.departure(of: name, goneBy: error)) }
        return continues || ends("The share has ended: no viewer is left.")
    }

    /// The report of a viewer's end.
    static func departure(of name: String, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["\(name) left."] }
        return CommandFailure(explaining: error).lines(after: "\(name) is disconnected: ")
    }

    private mutating func handle(_ occurrence: SharePlaces.Occurrence) async throws {
        if case .failed(let error, let outlook, _) = occurrence.event, await control.isForPlacesAlone {
            let noneBegan = beginnings.note(occurrence.place, outlook) && !wasConnected
            let isHopeless = await control.places.areGivenUp
            if noneBegan || isHopeless { throw error }
        }
        Terminal.shared.say(control.places.words(for: occurrence))
        guard case .published(let place, _) = occurrence.event else { return }
        await control.limit(place)
        try await didReachReceiver()
    }

    private func handle(_ event: ViewerServer.Event) async {
        switch event {
        case .joined(let viewer, let served): await control.add(viewer, as: served)
        case .waiting(let served):
            let name = await control.viewers.name(of: served.id)
            Terminal.shared.say(
                "\(name) is waiting to be admitted. Run: \(await control.command("admit \(served.id)"))")
        }
    }

    // MARK: Sources

    private func sourceDidEnd(_ source: SourceListener, _ error: CaptureSourceError?) async {
        await control.sourceDidEnd(source)
        guard let error else {
            return Terminal.shared.say("The \(source.role.rawValue) has ended. The share continues without it.")
        }
        let introduction = "The \(source.role.rawValue) is gone. The share continues without it: "
        Terminal.shared.say(CommandFailure(explaining: error).lines(after: introduction))
    }

    private func captureDidEnd() async throws -> Bool {
        if let loss = await control.sources.lossDuringPause {
            Terminal.shared.say(CommandFailure(.unavailable, loss).lines(after: "The share stays paused: "))
        }
        return try await !hasEndedUnseen()
    }

    /// Whether the capture has ended, and no viewer is there to see its last frame. If viewers are there, the frames before the
    /// end are sent first: ``Share/Occurrence/sourceEnded(_:)`` follows them.
    /// - Throws: why it has ended, if that was not requested.
    private func hasEndedUnseen() async throws -> Bool {
        guard options.output.record == nil, await !control.isAnyConnected, let end = await control.sources.captureEnd
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
        await control.note(rates.rates(for: await summaries))
        seconds += 1
        if seconds.isMultiple(of: Self.secondsBetweenTrims) { ProcessMemory.giveBack() }
        return true
    }

    private mutating func showStatus() async {
        guard await control.isAnyConnected else { return }
        Terminal.shared.status(line.line(for: await summaries, places: await control.places.publishedCount))
    }

    /// The counts of each viewer's connection.
    private var summaries: [Int: SendingSummary] {
        get async {
            let receivers = await control.receivers
            let summaries = await Connection.summaries(of: receivers.map(\.session.connection))
            return receivers.reduce(into: [:]) { $0[$1.viewer] = summaries[ObjectIdentifier($1.session.connection)] }
        }
    }

    /// Writes a report of each viewer's connection, in the order in which they came.
    func writeReports() async {
        guard let statistics else { return }
        var reports: [StatisticsReport] = []
        let status = await control.sources.status
        let source = SourceFacts(
            shareSource: status.specification, sharePaused: status.isPaused,
            shareInterruption: status.interruption?.description)
        for (viewer, name, session) in await control.receivers {
            // The session of a viewer who has left the room still has its own report.
            var report = if let report = await room.report(of: viewer) { report } else { await session.report() }
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
