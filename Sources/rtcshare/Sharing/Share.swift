internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// A share from its first connection to its end.
@SharingActor struct Share {
    let room: SharingRoom
    let sources: OpenedSources
    let options: SharingOptions
    let running: RunningOptions
    let inviting: RunningShare.Inviting
    /// The recording of all sent media.
    let film: FilmFile?
    let interruption: Interruption
    /// Answers the requests of a presenter who started this share from the page; nil for a share with a socket of its own.
    var desk: ControlDesk?
    /// A sequence that gets an element when the session file of this share is removed.
    var removals: AsyncStream<Void>?

    enum Occurrence: Sendable {
        /// The share has started, or failed to.
        case started((any Error)?)
        case viewer(Int, ConnectionState)
        /// An event of the server of the share's link.
        case served(ViewerServer.Event)
        /// An event of a server that the share is published at.
        case place(PublishingServers.Occurrence)
        /// A source has ended, and all its frames were sent. The error is nil if the end was expected.
        case sourceEnded(any VideoSource, (any Error)?)
        /// Lines were printed that are a message for the presenter, too.
        case told([String])
        /// The capture of a source has ended.
        case captureEnded(SourceObserver)
        /// An event that needs no more facts.
        case course(ShareCourse.Event)
        case statusDue
    }

    /// Runs the share with a viewer on `connection` until it ends, and closes the connection. `connect` is called after
    /// the viewer was added to the room, and `consume` once, when the viewer is connected or the share is stopped.
    func run(
        on connection: Connection, membership: RoomMembership,
        connect: @escaping @SharingActor () async throws -> Void, consume: @SharingActor () async throws -> Void
    ) async throws {
        do {
            try await run(server: nil, consume: consume) { share in
                let viewer = try await room.addViewer(on: connection, membership: membership)
                try await share.begin(for: viewer)
                try await connect()
                try Task.checkCancellation()
                Terminal.shared.say("Connecting …")
            }
        } catch {
            await connection.close()
            throw error
        }
        // The room does not have the viewer of a share that was stopped before.
        await connection.close()
    }

    /// Runs the share with a link and publications until it is stopped. `begun` is called when viewers can join.
    func run(
        behind server: ViewerServer, publishedAt places: PublishingServers,
        begun: @escaping @SharingActor (RunningShare) async throws -> Void
    ) async throws {
        try await run(server: server, places: places, consume: {}) { share in
            try await share.begin()
            try await share.startCapture()
            try Task.checkCancellation()
            Terminal.shared.say(sources.introduction)
            try await begun(share)
        }
    }

    /// Runs a share that is only published until it is stopped. Capture starts when the first server has the share.
    func run(publishedAt places: PublishingServers) async throws {
        try await run(server: nil, places: places, consume: {}) { share in
            try await share.begin()
            try Task.checkCancellation()
            Terminal.shared.say(sources.introduction)
            for place in 1...places.count { Terminal.shared.say("Publishing to \(places.name(of: place)) …") }
        }
    }

    /// Runs the share until it ends. `begin` makes it ready for viewers and servers.
    func run(
        server: ViewerServer?, places: PublishingServers = PublishingServers(),
        consume: @SharingActor () async throws -> Void,
        begin: @escaping @SharingActor (RunningShare) async throws -> Void
    ) async throws {
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let share = RunningShare(
            room: room, sources: sources, options: options, inviting: inviting, server: server, places: places,
            film: film, events: continuation)
        room.contentShare.add(observer: share)
        if let film { share.record(to: film) }
        let parts = Parts()
        parts.tasks = watch(server, continuation)
        let starting = start(share, parts, begin)
        defer { for task in [starting] + parts.tasks { task.cancel() } }
        var reports = ShareReports(of: share)
        var failure: (any Error)?
        do {
            let early = try await awaitStart(in: occurrences)
            // A share that was stopped does not start any more.
            starting.cancel()
            var isRunning = true
            for occurrence in early where isRunning {
                isRunning = try await apply(await share.effects(of: occurrence), to: share, parts, consume)
            }
            if isRunning { try await follow(occurrences, reports: &reports, parts, consume) }
        } catch {
            failure = error
        }
        await finish(reports, parts, server)
        if let failure { share.endReason = CommandFailure(explaining: failure).message }
        do {
            try await closeAll([{ try await share.endRecording() }, { try await parts.statistics?.close() }])
        } catch {
            // The error that ended the share is thrown, and not an error of closing its files.
            if failure == nil { share.endReason = CommandFailure(explaining: error).message }
            failure = failure ?? error
        }
        // This is the last step, because the desk answers commands that wait for the end of the share.
        await parts.desk?.shareDidEnd(reason: share.endReason)
        if let failure { throw failure }
    }

    /// The files and tasks of a running share.
    @SharingActor private final class Parts {
        var statistics: StatisticsWriter?
        var desk: ControlDesk?
        var tasks: [Task<Void, Never>] = []
    }

    /// Starts the share. Another share's lock, a device or a full pipe can block this, and a signal must end the share
    /// during that time.
    private func start(
        _ share: RunningShare, _ parts: Parts, _ begin: @escaping @SharingActor (RunningShare) async throws -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                if let path = options.output.stats {
                    let statistics = try await WorkerThread.run(named: "statistics file") {
                        () throws(CommandFailure) in try StatisticsWriter(path: path, activity: "the share")
                    }
                    // A share that was stopped has closed its files already.
                    try Task.checkCancellation()
                    parts.statistics = statistics
                }
                try Task.checkCancellation()
                let desk = desk ?? ControlDesk()
                parts.desk = desk
                desk.begin(share)
                let isListening = self.desk == nil ? try await running.listen(at: desk) : true
                share.name = desk.name
                share.control = running.control
                try await begin(share)
                try Task.checkCancellation()
                sayUnavailableCodecs()
                parts.tasks += share.places.start { share.events.yield(.place($0)) }
                if running.console, self.desk == nil { try await sayPage(of: desk, share, isListening: isListening) }
                if Terminal.shared.isTerminal { Terminal.shared.say("Press Ctrl-C to stop.") }
                ServiceManager.ready()
                if share.server != nil { limitDuration(of: share, parts) }
                share.events.yield(.started(nil))
                desk.shareDidStart()
            } catch {
                share.events.yield(.started(error))
            }
        }
    }

    /// Prints the link of the presenter's page, unless others can read the output.
    private func sayPage(of desk: ControlDesk, _ share: RunningShare, isListening: Bool) async throws {
        guard StandardStreams.areKept else {
            return Terminal.shared.show(secret: "Control: \(try await desk.openPage())")
        }
        Terminal.shared.say(
            isListening
                ? "To open the page for you as the presenter, run: \(share.command("present"))"
                : "There is no page for you as the presenter: others can read its link here, and this share has no control "
                    + "socket to ask for it.")
    }

    /// Reports the codecs that this machine lacks, unless the presenter has chosen others.
    private func sayUnavailableCodecs() {
        guard options.quality.encoding.codecs == nil else { return }
        for codec in VideoCodec.all {
            if let reason = codec.unavailability() { Terminal.shared.say("\(codec.name) is not used: \(reason).") }
        }
    }

    /// Waits until the share has started, and returns the occurrences before that. If the share is stopped first, the
    /// last one is the request.
    private func awaitStart(in occurrences: AsyncStream<Occurrence>) async throws -> [Occurrence] {
        var early: [Occurrence] = []
        for await occurrence in occurrences {
            switch occurrence {
            case .started(let error?): throw error
            case .started(nil): return early
            case .course(.stopRequested), .course(.sessionRemoved): return early + [occurrence]
            case .course(.second), .statusDue: continue
            default: early.append(occurrence)
            }
        }
        return early
    }

    /// Handles the occurrences until the share ends.
    private func follow(
        _ occurrences: AsyncStream<Occurrence>, reports: inout ShareReports, _ parts: Parts,
        _ consume: @SharingActor () async throws -> Void
    ) async throws {
        await parts.desk?.shareDidChange()
        for await occurrence in occurrences {
            let effects = await reports.share.effects(of: occurrence)
            guard try await apply(effects, to: reports.share, parts, consume) else { return }
            switch occurrence {
            case .course(.second): await reports.secondDidPass(parts.statistics)
            case .statusDue: await reports.showStatus()
            default: await parts.desk?.shareDidChange()
            }
        }
    }

    /// Applies effects, and returns whether the share continues.
    private func apply(
        _ effects: [ShareCourse.Effect], to share: RunningShare, _ parts: Parts,
        _ consume: @SharingActor () async throws -> Void
    ) async throws -> Bool {
        for effect in effects {
            switch effect {
            case .say(let lines): share.tell(lines)
            case .mention(let lines): Terminal.shared.say(lines)
            case .consume: try await consume()
            case .startCapture: startCapture(of: share, parts)
            case .end:
                share.endReason = share.messages.newest.last?.text
                return false
            case .fail(let error): throw error
            }
        }
        return true
    }

    /// Starts the sources. A device can take long, and other events must not wait for it.
    private func startCapture(of share: RunningShare, _ parts: Parts) {
        parts.tasks.append(
            Task {
                do {
                    try await share.startCapture()
                    if !share.isEnding { limitDuration(of: share, parts) }
                } catch {
                    share.events.yield(.course(.captureFailedToStart(error)))
                }
            })
    }

    /// Ends the share after the given duration.
    private func limitDuration(of share: RunningShare, _ parts: Parts) {
        guard let duration = options.output.duration else { return }
        parts.tasks.append(
            Task {
                guard (try? await Task.sleep(for: .seconds(duration))) != nil else { return }
                share.events.yield(.course(.durationOver))
            })
    }

    /// The timeout for ending the sources, and for ending the sessions at servers.
    private static let closingTime = Duration.seconds(3)
    nonisolated static let stop = "The share has stopped."

    private func watch(
        _ server: ViewerServer?, _ continuation: AsyncStream<Occurrence>.Continuation
    ) -> [Task<Void, Never>] {
        [
            Task { if let server { for await event in server.events { continuation.yield(.served(event)) } } },
            Task { for await _ in interruption.requested { continuation.yield(.course(.stopRequested)) } },
            Task { if let removals { for await _ in removals { continuation.yield(.course(.sessionRemoved)) } } },
            ticker(every: .seconds(1), .course(.second), continuation),
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

    /// Ends capture, sends the queued packets, writes the last reports, and ends all sessions.
    private func finish(_ reports: ShareReports, _ parts: Parts, _ server: ViewerServer?) async {
        let share = reports.share
        ServiceManager.stopping()
        Terminal.shared.finishStatus()
        await withTimeLimit(Self.closingTime) { await share.stopCapture() }
        server?.end()
        let viewers = room.viewers
        await withDiscardingTaskGroup { group in
            for viewer in viewers { group.addTask { await viewer.session.connection.drainQueue() } }
        }
        await reports.write(to: parts.statistics)
        // Viewers do not wait for a server that does not answer.
        async let unpublished: Void = withTimeLimit(Self.closingTime) { await share.places.stop() }
        await room.end()
        await server?.close()
        await unpublished
    }
}

extension RunningOptions {
    /// Opens the control socket of a share. Returns false with `--no-control`, or if the socket can't be opened and no option
    /// requires it.
    /// - Throws: `CancellationError` if the share was stopped before. No socket remains then.
    @SharingActor func listen(at desk: ControlDesk) async throws -> Bool {
        if noControl { return false }
        do {
            // This tries the sockets of other shares. Suspended processes take seconds to time out.
            let listening = try await WorkerThread.run(named: "control socket") {
                [control, name] () throws(CommandFailure) in
                guard let control else { return try ControlSocket.listen(name: name ?? ControlSocket.defaultName) }
                return try ControlSocket.listen(path: control)
            }
            try await desk.listen(at: listening)
            guard !Task.isCancelled else {
                await desk.close()
                throw CancellationError()
            }
            if let notice = listening.notice { Terminal.shared.say(notice) }
            return true
        } catch let failure as CommandFailure where name == nil && control == nil && !Task.isCancelled {
            // A share without control is better than none.
            Terminal.shared.say("rtcshare status, pause and the like don't work for this share: \(failure.message).")
            return false
        }
    }
}
