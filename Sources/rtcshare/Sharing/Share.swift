internal import FoundationEssentials
internal import Glibc
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// A share under way: connects, sends, and ends for whichever reason comes first.
struct Share {
    let room: SharingRoom
    let sources: OpenedSources
    let options: SharingOptions
    let running: RunningOptions
    let inviting: ShareControl.Inviting
    /// What is sent is recorded in it.
    let film: FilmFile?
    let interruption: Interruption
    /// Gives an element when the stored session that this share hangs on was removed.
    var removals: AsyncStream<Void>?

    /// What can happen to a share, from whatever side.
    enum Occurrence: Sendable {
        case viewer(Int, ConnectionState)
        /// Somebody came by a link, or waits to be let in.
        case served(ViewerServer.Event)
        /// Something happened to a server that the share is published at.
        case place(SharePlaces.Occurrence)
        case sourceIsSilent(Duration)
        case sourceEnded((any Error)?)
        /// The same, told by the source itself, whether or not anybody takes its pictures.
        case captureEnded
        /// Something beside the content has ended; with an error where that was not asked for.
        case otherSourceEnded(SourceListener, CaptureSourceError?)
        case interrupted
        case stopRequested
        case sessionRemoved
        case durationOver
        case second
        case statusDue
    }

    /// Runs until the end, with a viewer at the other end of `connection`. `connect` has that begin, once there is somebody
    /// to hear how it goes; `consume` is called once, when the session has served.
    func run(
        on connection: Connection, membership: RoomMembership, connect: () async throws -> Void,
        consume: () throws -> Void
    ) async throws {
        try await run(server: nil, consume: consume) { control in
            let viewer = try await room.addViewer(on: connection, membership: membership)
            try await control.begin(for: viewer)
            try await connect()
            Terminal.shared.say("Connecting …")
        }
    }

    /// Runs until it is stopped, with those who come to a server, and published at others. `begun` is called once viewers can
    /// come.
    func run(
        behind server: ViewerServer, publishedAt places: SharePlaces, begun: (ShareControl) async throws -> Void
    ) async throws {
        try await run(server: server, places: places, consume: {}) { control in
            try await control.begin()
            try await control.startCapture()
            Terminal.shared.say(sources.introduction)
            try await begun(control)
        }
    }

    /// Runs until it is stopped, published at servers; captures from when it is there at one of them.
    func run(publishedAt places: SharePlaces) async throws {
        try await run(server: nil, places: places, consume: {}) { control in
            try await control.begin()
            Terminal.shared.say(sources.introduction)
            for place in 1...places.count { Terminal.shared.say("Publishing to \(places.name(of: place)) …") }
        }
    }

    private func run(
        server: ViewerServer?, places: SharePlaces = SharePlaces(), consume: () throws -> Void,
        begin: (ShareControl) async throws -> Void
    ) async throws {
        let statistics = try options.output.stats.map { try StatisticsWriter(path: $0, activity: "the share") }
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let listener = ContentListener(continuation)
        room.contentShare.add(observer: listener)
        let control = ShareControl(
            room: room, sources: sources, options: options, inviting: inviting, server: server, places: places,
            film: film,
            events: continuation)
        if let film { await room.record(to: film.recorder) }
        let socket = try await running.listen(for: control)
        var watchers = watch(server, continuation)
        defer { for watcher in watchers { watcher.cancel() } }
        do {
            try await begin(control)
            watchers += await places.start { continuation.yield(.place($0)) }
            if Terminal.shared.isTerminal { Terminal.shared.say("Press Ctrl-C to stop.") }
            ServiceManager.ready()
            if server != nil { endInTime(continuation) }
            try await follow(
                occurrences, control: control, statistics: statistics, continuation: continuation, consume: consume)
            await finish(control, server, statistics)
        } catch {
            await finish(control, server, statistics)
            // The error that ended the share is thrown, not one of closing its files.
            try? await film?.close()
            try? await statistics?.close()
            await socket?.close()
            throw error
        }
        var failure: (any Error)?
        do {
            try await closeAll([{ try await film?.close() }, { try await statistics?.close() }])
        } catch {
            failure = error
        }
        // The last: it answers commands that wait for the end of the share.
        await socket?.close()
        if let failure { throw failure }
        withExtendedLifetime(listener) {}
    }

    /// Has the share end when its duration is over.
    private func endInTime(_ continuation: AsyncStream<Occurrence>.Continuation) {
        guard let duration = options.output.duration else { return }
        Task {
            try? await Task.sleep(for: .seconds(duration))
            continuation.yield(.durationOver)
        }
    }

    /// How long the sources, and the servers that the share is published at, can take to end.
    private static let closingTime = Duration.seconds(3)
    /// How often what viewers, sources and encodings left is given back to the system while the share runs.
    private static let secondsBetweenTrims = 60

    private func watch(
        _ server: ViewerServer?, _ continuation: AsyncStream<Occurrence>.Continuation
    ) -> [Task<Void, Never>] {
        [
            Task { if let server { for await event in server.events { continuation.yield(.served(event)) } } },
            Task { for await _ in interruption.requested { continuation.yield(.interrupted) } },
            Task { if let removals { for await _ in removals { continuation.yield(.sessionRemoved) } } },
            ticker(every: .seconds(1), .second, continuation),
            ticker(every: Terminal.shared.statusInterval, .statusDue, continuation),
        ]
    }

    private func ticker(
        every interval: Duration, _ occurrence: Occurrence, _ continuation: AsyncStream<Occurrence>.Continuation
    ) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                guard (try? await Task.sleep(for: interval)) != nil else { return }
                continuation.yield(occurrence)
            }
        }
    }

    private func follow(
        _ occurrences: AsyncStream<Occurrence>, control: ShareControl, statistics: StatisticsWriter?,
        continuation: AsyncStream<Occurrence>.Continuation, consume: () throws -> Void
    ) async throws {
        var line = ShareStatus()
        var rates = ShareStatus()
        var wasConnected = false
        var beginnings = PlaceBeginnings(count: control.places.count)
        var seconds = 0
        func reachedSomebody() async throws {
            guard !wasConnected else { return }
            wasConnected = true
            try consume()
            guard await !control.isServed else { return }
            try await control.startCapture()
            endInTime(continuation)
        }
        for await occurrence in occurrences {
            switch occurrence {
            case .viewer(let viewer, let state) where state.isOver:
                guard try await hasOthers(than: viewer, control) else { return }
            case .viewer(let viewer, let state):
                let isFirst = await control.viewers[viewer]?.hasConnected == false
                if state == .connected, isFirst {
                    try await checkPicture(of: viewer, control)
                    try await reachedSomebody()
                }
                await report(state, of: viewer, isFirst: isFirst, control)
            case .place(let occurrence):
                if case .failed(let error, let outlook, _) = occurrence.event, await control.isForPlacesAlone {
                    let noneBegan = beginnings.note(occurrence.place, outlook) && !wasConnected
                    let isHopeless = await control.places.areGivenUp
                    if noneBegan || isHopeless { throw error }
                }
                Terminal.shared.say(control.places.words(for: occurrence))
                guard case .published(let place, _) = occurrence.event else { continue }
                await control.limit(place)
                try await reachedSomebody()
            case .served(.joined(let viewer, let served)): await control.add(viewer, as: served)
            case .served(.waiting(let served)):
                let name = await control.viewers.name(of: served.id)
                Terminal.shared.say(
                    "\(name) is waiting to be admitted. Run: \(await control.command("admit \(served.id)"))")
            case .sourceIsSilent(let time):
                Terminal.shared.say(
                    "The source has given no frame for \(time.seconds.inSeconds). The share waits for one.")
            case .otherSourceEnded(let source, let error):
                await control.sourceDidEnd(source)
                guard let error else {
                    Terminal.shared.say("The \(source.role.rawValue) has ended. The share continues without it.")
                    continue
                }
                let introduction = "The \(source.role.rawValue) is gone. The share continues without it: "
                Terminal.shared.say(CommandFailure(explaining: error).lines(after: introduction))
            case .interrupted, .stopRequested:
                if !wasConnected { try consume() }
                return Terminal.shared.say(Self.stop)
            case .sessionRemoved:
                return Terminal.shared.say("The share has ended: its session file was removed.")
            case .durationOver:
                return Terminal.shared.say("The share has ended after \((options.output.duration ?? 0).inSeconds).")
            case .sourceEnded(let error):
                if await control.sources.isPaused { continue }
                if let error { throw error }
                return Terminal.shared.say(Self.end)
            case .captureEnded:
                if let loss = await control.sources.lossDuringPause {
                    let introduction = "The share stays paused: "
                    Terminal.shared.say(CommandFailure(.unavailable, loss).lines(after: introduction))
                }
                if try await hasEndedUnseen(control) { return }
            case .second:
                Terminal.shared.flush()
                if try await hasEndedUnseen(control) { return }
                await writeReports(control, to: statistics)
                await control.note(rates.rates(for: await summaries(control)))
                seconds += 1
                if seconds.isMultiple(of: Self.secondsBetweenTrims) { ProcessMemory.giveBack() }
            case .statusDue:
                guard await control.isAnyConnected else { continue }
                Terminal.shared.status(
                    line.line(for: await summaries(control), places: await control.places.publishedCount))
            }
        }
    }

    private static let end = "The share has ended: its source has ended."
    static let stop = "The share has stopped."

    /// Whether the capture has ended and nobody is there to see its last picture. Where pictures are taken, those before the
    /// end are sent first: ``Occurrence/sourceEnded(_:)`` follows them.
    /// - Throws: why it has ended, where that was not asked for.
    private func hasEndedUnseen(_ control: ShareControl) async throws -> Bool {
        guard options.output.record == nil, await !control.isAnyConnected, let end = await control.sources.captureEnd
        else {
            return false
        }
        try end.get()
        Terminal.shared.say(Self.end)
        return true
    }

    /// Reports that a viewer is gone, and returns whether the share continues: one for invited viewers ends with the last.
    private func hasOthers(than viewer: Int, _ control: ShareControl) async throws -> Bool {
        let name = await control.viewers.name(of: viewer)
        let error = await control.viewers.session(of: viewer)?.failure
        let isRemoved = await control.viewers.isBeingRemoved(viewer)
        let others = await control.viewerDidEnd(viewer)
        let continues = await control.viewers.outlivesViewers || others > 0
        if !continues, let error { throw error }
        if !isRemoved { Terminal.shared.say(Self.departure(of: name, goneBy: error)) }
        if !continues { Terminal.shared.say("The share has ended: no viewer is left.") }
        return continues
    }

    /// The report of a viewer's end.
    static func departure(of name: String, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["\(name) left."] }
        return CommandFailure(explaining: error).lines(after: "\(name) is disconnected: ")
    }

    /// Complains where the only viewer of those who were invited declines the picture: there is nobody to share to.
    private func checkPicture(of viewer: Int, _ control: ShareControl) async throws {
        let viewers = await control.viewers
        guard !viewers.outlivesViewers, viewers.sessions.count == 1,
            await room.refusedMedia(of: viewer).contains(.content)
        else { return }
        throw CommandFailure(.unavailable, "\(ContentShareStatus.refusedByPeer)")
    }

    private func report(_ state: ConnectionState, of viewer: Int, isFirst: Bool, _ control: ShareControl) async {
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

    /// The counts of each viewer's connection.
    private func summaries(_ control: ShareControl) async -> [Int: SendingSummary] {
        let receivers = await control.receivers
        let summaries = await Connection.summaries(of: receivers.map(\.session.connection))
        return receivers.reduce(into: [:]) { $0[$1.viewer] = summaries[ObjectIdentifier($1.session.connection)] }
    }

    /// Writes a report of each viewer's connection, in the order in which they came.
    private func writeReports(_ control: ShareControl, to statistics: StatisticsWriter?) async {
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

    /// Ends capture, lets what is queued leave, says goodbye, and writes the last reports.
    private func finish(_ control: ShareControl, _ server: ViewerServer?, _ statistics: StatisticsWriter?) async {
        ServiceManager.stopping()
        Terminal.shared.finishStatus()
        await withTimeLimit(Self.closingTime) { await control.stopCapture() }
        await server?.end()
        let viewers = await room.viewers
        await withDiscardingTaskGroup { group in
            for viewer in viewers { group.addTask { await viewer.session.connection.drainQueue() } }
        }
        await writeReports(control, to: statistics)
        // Viewers don't wait for a server that does not answer.
        async let unpublished: Void = withTimeLimit(Self.closingTime) { await control.places.stop() }
        await room.end()
        await server?.close()
        await unpublished
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

/// Turns what the content share tells into occurrences.
private final class ContentListener: ContentShareObserver {
    private let continuation: AsyncStream<Share.Occurrence>.Continuation

    init(_ continuation: AsyncStream<Share.Occurrence>.Continuation) {
        self.continuation = continuation
    }

    func contentShareSourceIsSilent(for time: Duration) { continuation.yield(.sourceIsSilent(time)) }
    func contentShareSourceDidEnd(error: (any Error)?) { continuation.yield(.sourceEnded(error)) }
}

extension RunningOptions {
    /// Starts the share's control server; nil with `--no-control`, or if it can't start and no option asked for it.
    fileprivate func listen(for control: ShareControl) async throws -> ControlServer? {
        if noControl { return nil }
        do {
            let listening =
                if let path = self.control {
                    try ControlSocket.listen(path: path)
                } else {
                    try ControlSocket.listen(name: name ?? ControlSocket.defaultName)
                }
            if let notice = listening.notice { Terminal.shared.say(notice) }
            await control.setName(listening.socket.name)
            return try await ControlServer.start(listening) { await control.answer($0) }
        } catch let failure as CommandFailure where name == nil && self.control == nil {
            // Sharing matters more than control.
            Terminal.shared.say("rtcshare status, pause and the like don't work for this share: \(failure.message).")
            return nil
        }
    }
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
