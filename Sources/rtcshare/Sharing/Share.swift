internal import Foundation
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection

/// A share under way: connects, sends, and ends for whichever reason comes first.
struct Share {
    let room: SharingRoom
    let sources: OpenedSources
    let options: SharingOptions
    let running: RunningOptions
    let inviting: ShareControl.Inviting
    let interruption: Interruption
    /// Gives an element when the stored session that this share hangs on was removed.
    var removals: AsyncStream<Void>?

    /// What can happen to a share, from whatever side.
    enum Occurrence: Sendable {
        case viewer(Int, ViewerEvent)
        case shareStopped(ContentShareStatus)
        case sourceEnded((any Error)?)
        /// Something beside the content has ended; with an error where that was not asked for.
        case besideEnded(String, CaptureSourceError?)
        case interrupted
        case stopRequested
        case sessionRemoved
        case durationOver
        case second
        case statusDue
    }

    /// What can happen with a viewer.
    enum ViewerEvent: Sendable {
        case connected
        case disconnected
        case reconnected
        case ended((any Error)?)
    }

    /// Runs until the end, with a viewer at the other end of `connection`. `connect` has that begin, once there is somebody
    /// to hear how it goes; `consume` is called once, when the session has served.
    func run(
        on connection: Connection, connect: () async throws -> Void, consume: () throws -> Void
    ) async throws {
        let statistics = try options.stats.map { try StatisticsWriter(path: $0) }
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        let listener = ContentListener(continuation)
        room.contentShare.add(observer: listener)
        let beside = listenBeside(continuation)
        let control = ShareControl(
            room: room, sources: sources, options: options, inviting: inviting, events: continuation)
        let server = try await running.listen(for: control)
        let watchers = watch(continuation)
        defer { for watcher in watchers { watcher.cancel() } }
        do {
            try await control.begin(for: try await room.addViewer(on: connection, membership: running.membership))
            try await connect()
            Terminal.shared.say("Connecting …")
            ServiceManager.ready()
            try await follow(
                occurrences, control: control, statistics: statistics, continuation: continuation, consume: consume)
            await finish(control, statistics)
        } catch {
            await finish(control, statistics)
            await server?.close()
            throw error
        }
        await server?.close()
        withExtendedLifetime((listener, beside)) {}
    }

    private func listenBeside(_ continuation: AsyncStream<Occurrence>.Continuation) -> [BesideListener] {
        let sounds =
            sources.audio.map { ("sound", $0) } + [sources.microphone].compactMap { $0 }.map { ("microphone", $0) }
        let listeners = sounds.map { name, source in
            let listener = BesideListener(name: name, continuation)
            source.add(observer: listener)
            return listener
        }
        guard let camera = sources.camera else { return listeners }
        let listener = BesideListener(name: "camera", continuation)
        camera.add(observer: listener)
        return listeners + [listener]
    }

    private func watch(_ continuation: AsyncStream<Occurrence>.Continuation) -> [Task<Void, Never>] {
        [
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
        for await occurrence in occurrences {
            switch occurrence {
            case .viewer(let viewer, .ended(let error)):
                guard try await hasOthers(than: viewer, goneBy: error, control) else { return }
            case .viewer(let viewer, let event):
                if case .connected = event, !wasConnected {
                    wasConnected = true
                    try consume()
                    try await control.startCapture()
                    if let duration = options.duration {
                        Task {
                            try? await Task.sleep(for: .seconds(duration))
                            continuation.yield(.durationOver)
                        }
                    }
                }
                await tell(event, of: viewer, control)
            case .shareStopped(let status):
                switch status {
                case .sourceSilent, .refusedByPeer: throw CommandFailure(.unavailable, "\(status)")
                // The viewers' leaving tells the rest.
                case .ok, .replaced, .closedByPeer, .connectionFailed: continue
                }
            case .besideEnded(let name, let error?):
                Terminal.shared.say("The \(name) is gone, the share goes on without it: \(error)")
            case .besideEnded(let name, nil):
                Terminal.shared.say("The \(name) has ended, the share goes on without it.")
            case .interrupted, .stopRequested:
                if !wasConnected { try consume() }
                return Terminal.shared.say("Stopped.")
            case .sessionRemoved:
                return Terminal.shared.say("The stored session was removed: the share has ended.")
            case .durationOver:
                return Terminal.shared.say("Done: \((options.duration ?? 0).formatted()) seconds shared.")
            case .sourceEnded(let error):
                if await control.hasOtherSource { continue }
                if let error { throw error }
                return Terminal.shared.say("Done: the source has ended.")
            case .second:
                let reports = await reports(control)
                try write(reports, to: statistics)
                await control.note(rates.rates(for: reports))
            case .statusDue:
                guard await control.viewers.isAnyConnected else { continue }
                Terminal.shared.status(line.line(for: await reports(control)))
            }
        }
    }

    /// Says what became of a viewer who is gone. Who was the last of several, or alone, is the end of the share.
    private func hasOthers(than viewer: Int, goneBy error: (any Error)?, _ control: ShareControl) async throws -> Bool {
        let isAlone = await control.viewers.wasOnlyOne
        guard await control.viewerDidEnd(viewer) == 0 else {
            Terminal.shared.say(Self.departure(of: viewer, goneBy: error))
            return true
        }
        if let error { throw error }
        Terminal.shared.say(isAlone ? "The viewer left." : "Viewer \(viewer) left, as the last.")
        return false
    }

    /// What is said of a viewer who is gone while others look on.
    static func departure(of viewer: Int, goneBy error: (any Error)?) -> [String] {
        guard let error else { return ["Viewer \(viewer) left."] }
        return CommandFailure(explaining: error).lines(after: "Viewer \(viewer) is gone: ")
    }

    private func tell(_ event: ViewerEvent, of viewer: Int, _ control: ShareControl) async {
        let isAlone = await control.viewers.wasOnlyOne
        let name = isAlone ? "The viewer" : "Viewer \(viewer)"
        switch event {
        case .connected:
            await control.viewer(viewer, is: .connected)
            Terminal.shared.say(isAlone ? "Connected." : "\(name) is connected.")
            let session = await control.viewers.sessions.first { $0.viewer == viewer }?.session
            for media in await session?.refusedMedia().subtracting([.content]) ?? [] {
                Terminal.shared.say("\(name) takes no \(media.name): its answer declines it.")
            }
        case .disconnected:
            await control.viewer(viewer, is: .away)
            Terminal.shared.say("\(name) does not answer; waiting for it to come back.")
        case .reconnected:
            await control.viewer(viewer, is: .connected)
            Terminal.shared.say("\(name) is back.")
        case .ended: return
        }
    }

    /// A report of each viewer's connection, in the order in which they came.
    private func reports(_ control: ShareControl) async -> [(viewer: Int, report: [StatisticsObject])] {
        var reports: [(viewer: Int, report: [StatisticsObject])] = []
        for (viewer, session) in await control.viewers.sessions { reports.append((viewer, await session.statistics())) }
        return reports
    }

    private func write(
        _ reports: [(viewer: Int, report: [StatisticsObject])], to statistics: StatisticsWriter?
    ) throws(CommandFailure) {
        for (_, report) in reports { try statistics?.write(report) }
    }

    /// Ends capture, lets what is queued leave, says goodbye, and writes the last reports.
    private func finish(_ control: ShareControl, _ statistics: StatisticsWriter?) async {
        ServiceManager.stopping()
        Terminal.shared.finishStatus()
        await control.stopCapture()
        let viewers = await room.viewers
        await withDiscardingTaskGroup { group in
            for viewer in viewers { group.addTask { await viewer.session.connection.drainQueue() } }
        }
        try? write(await reports(control), to: statistics)
        await room.end()
    }
}

/// Turns what the content share tells into occurrences.
private final class ContentListener: ContentShareObserver {
    private let continuation: AsyncStream<Share.Occurrence>.Continuation

    init(_ continuation: AsyncStream<Share.Occurrence>.Continuation) {
        self.continuation = continuation
    }

    func contentShareDidStop(status: ContentShareStatus) { continuation.yield(.shareStopped(status)) }
    func contentShareSourceDidEnd(error: (any Error)?) { continuation.yield(.sourceEnded(error)) }
}

/// Hears of the end of a sound or a camera, which ends no share.
private final class BesideListener: CaptureSourceObserver {
    private let name: String
    private let continuation: AsyncStream<Share.Occurrence>.Continuation

    init(name: String, _ continuation: AsyncStream<Share.Occurrence>.Continuation) {
        self.name = name
        self.continuation = continuation
    }

    func captureDidStop() { continuation.yield(.besideEnded(name, nil)) }

    func captureDidFail(error: CaptureSourceError) {
        // A frame that was left out is no end.
        if error.kind != .invalidFrame { continuation.yield(.besideEnded(name, error)) }
    }
}

extension RunningOptions {
    /// Has a share answer at its socket; nil where it is not to, or can't and nobody asked for it.
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
            // What is shared is worth more than that it can be asked.
            Terminal.shared.say("This share can't be asked or changed while it runs: \(failure.message)")
            return nil
        }
    }
}

extension SharedMedia {
    /// What a person calls it.
    fileprivate var name: String {
        switch self {
        case .content: "picture of the content"
        case .contentAudio: "sound of the content"
        case .camera: "camera"
        case .microphone: "microphone"
        }
    }
}
