internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A share under way: connects, sends, and ends for whichever reason comes first.
@SharingActor struct Share {
    let room: SharingRoom
    let sources: OpenedSources
    let options: SharingOptions
    let running: RunningOptions
    let inviting: RunningShare.Inviting
    /// The recording of everything that is sent.
    let film: FilmFile?
    let interruption: Interruption
    /// Gives an element when the stored session that this share hangs on was removed.
    var removals: AsyncStream<Void>?

    /// An event of a running share.
    enum Occurrence: Sendable {
        case viewer(Int, ConnectionState)
        /// Somebody came by a link, or waits to be let in.
        case served(ViewerServer.Event)
        /// Something happened to a server that the share is published at.
        case place(PublishingServers.Occurrence)
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
        on connection: Connection, membership: RoomMembership, connect: @SharingActor () async throws -> Void,
        consume: @escaping () throws -> Void
    ) async throws {
        try await run(server: nil, consume: consume) { share in
            let viewer = try await room.addViewer(on: connection, membership: membership)
            try await share.begin(for: viewer)
            try await connect()
            Terminal.shared.say("Connecting …")
        }
    }

    /// Runs until it is stopped, with those who come to a server, and published at others. `begun` is called once viewers can
    /// come.
    func run(
        behind server: ViewerServer, publishedAt places: PublishingServers,
        begun: @SharingActor (RunningShare) async throws -> Void
    ) async throws {
        try await run(server: server, places: places, consume: {}) { share in
            try await share.begin()
            try await share.startCapture()
            Terminal.shared.say(sources.introduction)
            try await begun(share)
        }
    }

    /// Runs until it is stopped, published at servers; captures from when it is there at one of them.
    func run(publishedAt places: PublishingServers) async throws {
        try await run(server: nil, places: places, consume: {}) { share in
            try await share.begin()
            Terminal.shared.say(sources.introduction)
            for place in 1...places.count { Terminal.shared.say("Publishing to \(places.name(of: place)) …") }
        }
    }

    private func run(
        server: ViewerServer?, places: PublishingServers = PublishingServers(), consume: @escaping () throws -> Void,
        begin: @SharingActor (RunningShare) async throws -> Void
    ) async throws {
        let statistics = try options.output.stats.map { try StatisticsWriter(path: $0, activity: "the share") }
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let listener = ContentListener(continuation)
        room.contentShare.add(observer: listener)
        let share = RunningShare(
            room: room, sources: sources, options: options, inviting: inviting, server: server, places: places,
            film: film,
            events: continuation)
        if let film { room.record(to: film.recorder) }
        let socket = try await running.listen(for: share)
        var course = ShareCourse(share, statistics: statistics, consume: consume) {
            limitDuration(continuation)
        }
        var watchers = watch(server, continuation)
        defer { for watcher in watchers { watcher.cancel() } }
        do {
            try await begin(share)
            watchers += await places.start { continuation.yield(.place($0)) }
            if Terminal.shared.isTerminal { Terminal.shared.say("Press Ctrl-C to stop.") }
            ServiceManager.ready()
            if server != nil { limitDuration(continuation) }
            for await occurrence in occurrences { guard try await course.handle(occurrence) else { break } }
            await finish(course, server)
        } catch {
            await finish(course, server)
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

    /// Ends the share when its duration is over.
    private func limitDuration(_ continuation: AsyncStream<Occurrence>.Continuation) {
        guard let duration = options.output.duration else { return }
        Task {
            try? await Task.sleep(for: .seconds(duration))
            continuation.yield(.durationOver)
        }
    }

    /// How long the sources, and the servers that the share is published at, can take to end.
    private static let closingTime = Duration.seconds(3)
    nonisolated static let stop = "The share has stopped."

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

    /// Ends capture, lets what is queued leave, says goodbye, and writes the last reports.
    private func finish(_ course: ShareCourse, _ server: ViewerServer?) async {
        let share = course.share
        ServiceManager.stopping()
        Terminal.shared.finishStatus()
        await withTimeLimit(Self.closingTime) { await share.stopCapture() }
        server?.end()
        let viewers = room.viewers
        await withDiscardingTaskGroup { group in
            for viewer in viewers { group.addTask { await viewer.session.connection.drainQueue() } }
        }
        await course.writeReports()
        // Viewers don't wait for a server that does not answer.
        async let unpublished: Void = withTimeLimit(Self.closingTime) { await share.places.stop() }
        await room.end()
        await server?.close()
        await unpublished
    }
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
    @SharingActor fileprivate func listen(for share: RunningShare) async throws -> ControlServer? {
        if noControl { return nil }
        do {
            let listening =
                if let path = control {
                    try ControlSocket.listen(path: path)
                } else {
                    try ControlSocket.listen(name: name ?? ControlSocket.defaultName)
                }
            if let notice = listening.notice { Terminal.shared.say(notice) }
            share.name = listening.socket.name
            return try await ControlServer.start(listening) { await share.answer($0) }
        } catch let failure as CommandFailure where name == nil && control == nil {
            // Sharing matters more than control.
            Terminal.shared.say("rtcshare status, pause and the like don't work for this share: \(failure.message).")
            return nil
        }
    }
}
