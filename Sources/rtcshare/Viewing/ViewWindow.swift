internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareVideoCoding

/// The window of `view`: opens with the first picture, shows the content large and an attendee's own picture in its corner,
/// plays what is heard, and does what its keys say.
final class ViewWindow: Sendable {
    private struct State {
        var tiles = ShownTiles()
        /// The tiles that the views are bound to.
        var large: Int?
        var corner: Int?
        var window: VideoWindow?
        /// The tile that the window has its size of.
        var sized: Int?
        var hasFailed = false
        var tasks: [Task<Void, Never>] = []
        var status = ViewStatus()
        var session: AttendeeSession
        var player: SoundPlayer
    }

    /// Whether without it there is nothing to be had of the view.
    private let isRequired: Bool
    private let large = VideoView()
    private let corner = VideoView()
    private let listener = Listener()
    private let state: Locked<State>
    /// Tells that the window is to be brought up to date.
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    /// A window of what `session` sees. Where it can't be opened, that ends the view if it `isRequired`, and else is told.
    init(_ session: AttendeeSession, isRequired: Bool) {
        self.isRequired = isRequired
        state = Locked(State(session: session, player: Self.player(of: session)))
        (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener.window.withLock { $0.window = self }
    }

    private static func player(of session: AttendeeSession) -> SoundPlayer {
        SoundPlayer(session.sounds) {
            Terminal.shared.say(CommandFailure(explaining: $0).lines(after: "Warning: no audio: "))
        }
    }

    private var session: AttendeeSession { state.withLock { $0.session } }
    private var player: SoundPlayer { state.withLock { $0.player } }

    /// Shows and plays what comes of this session from now on.
    func attend(_ session: AttendeeSession) {
        let isOther = state.withLock { $0.session !== session }
        if isOther {
            let player = Self.player(of: session)
            player.isMuted = self.player.isMuted
            let before = state.withLock { state in
                defer { (state.session, state.player) = (session, player) }
                return state.player
            }
            before.stop()
        }
        session.tiles.add(observer: listener)
        change { $0.isConnected = true }
    }

    /// Shows whether the session is connected.
    func setConnected(_ isConnected: Bool) {
        state.withLock { $0.tiles.isConnected = isConnected }
        changed.yield()
    }

    /// Whether a window is wanted: as the person says, or else where it can be seen and nothing is kept in a file.
    static func isWanted(flag: Bool?, keepsFile: Bool, environment: [String: String]) -> Bool {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        return flag ?? (hasDisplay && !keepsFile)
    }

    /// Shows what comes from now on. `end` is called where its person has seen enough, or, with an error, where it can't
    /// be shown and has to be.
    func start(end: @escaping @Sendable ((any Error)?) -> Void) {
        let updates = Task { [self] in
            for await _ in changes { await bringUpToDate(end) }
        }
        let status = Task { [self] in
            while (try? await Task.sleep(for: Terminal.shared.statusInterval)) != nil { await showStatus() }
        }
        state.withLock { $0.tasks = [updates, status] }
    }

    /// Closes the window, and plays nothing more.
    func stop() async {
        session.tiles.remove(observer: listener)
        changed.finish()
        let (tasks, window) = state.withLock { state in
            defer { state.window = nil }
            return (state.tasks, state.window)
        }
        for task in tasks { task.cancel() }
        player.stop()
        await window?.close()
        Terminal.shared.finishStatus()
    }

    /// Adds the counts of screen and speakers, and the time of processors, to a report.
    func addPlayback(to report: inout StatisticsReport) {
        report.add(sounds: session.sounds, playedBy: player)
        let (large, corner) = state.withLock { ($0.large, $0.corner) }
        for (tile, view) in [(large, self.large), (corner, self.corner)] {
            if let tile { report.add(tile: tile, of: session.tiles, shownBy: view) }
        }
        report.add(ProcessorFacts(), to: StatisticsReport.transportID)
    }

    /// The members of `transport` that a connection does not know.
    private struct ProcessorFacts: Encodable {
        let processorTime = ProcessTime.total
        let windowProcessorTime = VideoWindow.processorTime
    }

    private func showStatus() async {
        guard let tile = state.withLock({ $0.tiles.large }),
            let receiver = session.tiles.receiverIndex(ofTile: tile.tileID)
        else { return }
        var report = await session.report()
        addPlayback(to: &report)
        let line = state.withLock {
            $0.status.line(
                for: report, large: receiver, processorTime: ProcessTime.total, pauseState: tile.pauseState)
        }
        if let line { Terminal.shared.status(line) }
    }

    // MARK: Tiles

    fileprivate func change(_ body: (inout ShownTiles) -> Void) {
        let before = state.withLock { state in
            body(&state.tiles)
            return (large: state.large, corner: state.corner, tiles: state.tiles)
        }
        // Told one after the other: nobody else binds meanwhile.
        bind(large, to: before.tiles.large, insteadOf: before.large)
        bind(corner, to: before.tiles.corner, insteadOf: before.corner)
        state.withLock { state in
            state.large = before.tiles.large?.tileID
            state.corner = before.tiles.corner?.tileID
        }
        changed.yield()
    }

    private func bind(_ view: VideoView, to tile: VideoTileState?, insteadOf old: Int?) {
        guard tile?.tileID != old else { return }
        if let old { session.tiles.unbind(view, fromTile: old) }
        view.clear()
        player.synchronize(view, with: tile?.attendeeID)
        // That a decoder can't be made is told by whoever else binds to the tile.
        if let tile { try? session.tiles.bind(view, toTile: tile.tileID) }
    }

    // MARK: The window

    private func bringUpToDate(_ end: @escaping @Sendable ((any Error)?) -> Void) async {
        let (tiles, window, hasFailed) = state.withLock { ($0.tiles, $0.window, $0.hasFailed) }
        if let window {
            await window.setTitle(tiles.title)
            let isOther = state.withLock { state in
                defer { state.sized = tiles.large?.tileID ?? state.sized }
                return tiles.large != nil && state.sized != tiles.large?.tileID
            }
            if isOther, let size = tiles.large?.size { await window.adopt(size) }
            return
        }
        guard let tile = tiles.large, !hasFailed else { return }
        do {
            let opened = try await VideoWindow(title: tiles.title, size: tile.size, large: large, corner: corner)
            guard !Task.isCancelled else { return await opened.close() }
            let handling = Task { [self] in
                for await event in opened.events { await handle(event, in: opened, end) }
            }
            state.withLock { state in
                state.window = opened
                state.sized = tile.tileID
                state.tasks.append(handling)
            }
            Terminal.shared.say(ViewKey.help)
            // What changed while it was opened.
            changed.yield()
        } catch {
            fail(error, end)
        }
    }

    private func fail(_ error: VideoWindowError, _ end: @Sendable ((any Error)?) -> Void) {
        state.withLock { $0.hasFailed = true }
        if isRequired { return end(error) }
        Terminal.shared.say(CommandFailure(explaining: error).lines(after: "No window: "))
    }

    private func handle(
        _ event: VideoWindow.Event, in window: VideoWindow, _ end: @Sendable ((any Error)?) -> Void
    ) async {
        switch event {
        case .closed: end(nil)
        case .failed(let error): fail(error, end)
        case .key(let character):
            switch ViewKey(character) {
            case .toggleFullScreen: await window.toggleFullScreen()
            case .leaveFullScreen: await window.setFullScreen(false)
            case .showNaturalSize: await window.showNaturalSize()
            case .toggleSound:
                player.isMuted.toggle()
                let isMuted = player.isMuted
                change { $0.isMuted = isMuted }
            case .takeSnapshot: takeSnapshot()
            case .quit: end(nil)
            case nil: return
            }
        }
    }

    private func takeSnapshot() {
        let picture = SnapshotSink()
        guard let frame = large.frame else { return }
        picture.receive(frame)
        let path = SnapshotName.path(at: Date()) { FileManager.default.fileExists(atPath: $0) }
        do {
            try picture.write(to: path)
            Terminal.shared.say("Saved the frame to \(path).")
        } catch {
            Terminal.shared.say(CommandFailure(explaining: error).lines(after: "Warning: "))
        }
    }
}

/// Reports the tiles of a session to a window, which it does not keep.
private final class Listener: VideoTileObserver {
    struct Reference {
        weak var window: ViewWindow?
    }

    let window = Locked(Reference())

    private func change(_ body: (inout ShownTiles) -> Void) { window.withLock { $0.window }?.change(body) }

    func videoTileDidAdd(_ tile: VideoTileState) { change { $0.update(tile) } }
    func videoTileDidRemove(_ tile: VideoTileState) { change { $0.remove(tile) } }
    func videoTileDidPause(_ tile: VideoTileState) { change { $0.update(tile) } }
    func videoTileDidResume(_ tile: VideoTileState) { change { $0.update(tile) } }
    func videoTileSizeDidChange(_ tile: VideoTileState) { change { $0.update(tile) } }
}
