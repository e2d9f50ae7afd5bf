internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCSharePlayback
internal import RTCShareVideoCoding

/// The window of `view`. It opens with the first frame, shows the content in a large view and a camera in the corner,
/// plays the audio, and handles keys.
@SharingActor final class ViewWindow {
    /// Whether the view fails without the window.
    private let isRequired: Bool
    private let large = VideoView()
    private let corner = VideoView()
    private var session: AttendeeSession
    private(set) var player: AudioPlayer
    private(set) var tiles = ShownTiles()
    /// The tiles to which the views are bound.
    private var largeTile: Int?
    private var cornerTile: Int?
    private var window: VideoWindow?
    /// The tile whose size the window has.
    private var sizedTile: Int?
    private var hasFailed = false
    private var isStopped = false
    private var tasks: [Task<Void, Never>] = []
    private var status = ViewStatus()
    /// The stream that causes the window to update.
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    /// Creates a window for the media of `session`. If it can't open, the view fails if it `isRequired`. Otherwise the
    /// error is printed.
    init(_ session: AttendeeSession, isRequired: Bool) {
        self.isRequired = isRequired
        self.session = session
        player = Self.player(of: session)
        (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    private static func player(of session: AttendeeSession) -> AudioPlayer {
        AudioPlayer(session.audio) {
            Terminal.shared.say(CommandFailure(explaining: $0).lines(after: "Warning: no audio: "))
        }
    }

    /// Shows and plays the media of this session from now on.
    func attend(_ session: AttendeeSession) async {
        let before = player
        if isStopped { return }
        if self.session !== session {
            self.session = session
            player = Self.player(of: session)
            player.setMuted(before.isMuted)
        }
        change { $0.isConnected = true }
        if player !== before { await before.stop() }
    }

    /// Shows whether the session is connected.
    func setConnected(_ isConnected: Bool) {
        tiles.isConnected = isConnected
        changed.yield()
    }

    /// Returns whether to open a window. The default is to open one if there is a display and no file is written.
    nonisolated static func isWanted(flag: Bool?, keepsFile: Bool, environment: [String: String]) -> Bool {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        return flag ?? (hasDisplay && !keepsFile)
    }

    /// Shows the received media from now on. `end` is called if the person closes the window, or with an error if a
    /// required window can't open.
    func start(end: @escaping @Sendable ((any Error)?) -> Void) {
        let updates = Task { [self] in
            for await _ in changes { await bringUpToDate(end) }
        }
        let status = Task { [self] in
            while (try? await Task.sleep(for: Terminal.shared.statusInterval)) != nil { await showStatus() }
        }
        tasks = [updates, status]
    }

    /// Closes the window and stops playback.
    func stop() async {
        isStopped = true
        changed.finish()
        for task in tasks { task.cancel() }
        let window = window
        self.window = nil
        await player.stop()
        await window?.close()
        Terminal.shared.finishStatus()
    }

    /// Adds the counts of screen and speakers, and the processor time, to a report.
    func addPlayback(to report: inout StatisticsReport) {
        report.add(sounds: session.audio, playedBy: player)
        for (tile, view) in [(largeTile, large), (cornerTile, corner)] {
            if let tile { report.add(tile: tile, of: session.tiles, shownBy: view) }
        }
        report.add(ProcessorFacts(), to: StatisticsReport.transportID)
    }

    /// The members of `transport` that a connection does not have.
    private struct ProcessorFacts: Encodable {
        let processorTime = ProcessTime.total
        let windowProcessorTime = VideoWindow.processorTime
    }

    private func showStatus() async {
        guard let tile = tiles.large, let receiver = session.tiles.receiverIndex(ofTile: tile.tileID) else { return }
        var report = await session.stats()
        addPlayback(to: &report)
        let line = status.line(
            for: report, large: receiver, processorTime: ProcessTime.total, pauseState: tile.pauseState)
        if let line { Terminal.shared.status(line) }
    }

    // MARK: Tiles

    /// Shows a tile that was added or has changed.
    func update(_ tile: VideoTileState) { change { $0.update(tile) } }

    /// Stops showing a tile.
    func remove(_ tile: VideoTileState) { change { $0.remove(tile) } }

    private func change(_ body: (inout ShownTiles) -> Void) {
        // The session reports the removal of its tiles later.
        if isStopped { return }
        body(&tiles)
        bind(large, to: tiles.large, insteadOf: largeTile)
        bind(corner, to: tiles.corner, insteadOf: cornerTile)
        (largeTile, cornerTile) = (tiles.large?.tileID, tiles.corner?.tileID)
        changed.yield()
    }

    private func bind(_ view: VideoView, to tile: VideoTileState?, insteadOf old: Int?) {
        guard tile?.tileID != old else { return }
        if let old { session.tiles.unbind(view, fromTile: old) }
        view.clear()
        player.synchronize(view, with: tile?.attendeeID)
        // The viewing binds to the tile too, and reports a decoder that can't be created.
        if let tile { try? session.tiles.bind(view, toTile: tile.tileID) }
    }

    // MARK: The window

    private func bringUpToDate(_ end: @escaping @Sendable ((any Error)?) -> Void) async {
        if let window {
            let large = tiles.large
            await window.setTitle(tiles.title)
            if let large, large.tileID != sizedTile {
                sizedTile = large.tileID
                await window.adopt(large.size)
            }
            return
        }
        guard let tile = tiles.large, !hasFailed else { return }
        do {
            let opened = try await VideoWindow(title: tiles.title, size: tile.size, large: large, corner: corner)
            guard !Task.isCancelled else { return await opened.close() }
            let handling = Task { [self] in
                for await event in opened.events { await handle(event, in: opened, end) }
            }
            window = opened
            sizedTile = tile.tileID
            tasks.append(handling)
            Terminal.shared.say(ViewKey.help)
            // The window must show changes that were made while it opened.
            changed.yield()
        } catch {
            fail(error, end)
        }
    }

    private func fail(_ error: VideoWindowError, _ end: @Sendable ((any Error)?) -> Void) {
        hasFailed = true
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
                player.setMuted(!player.isMuted)
                change { [player] in $0.isMuted = player.isMuted }
            case .takeSnapshot: takeSnapshot()
            case .quit: end(nil)
            case nil: return
            }
        }
    }

    private func takeSnapshot() {
        guard let frame = large.frame else { return }
        WorkerThread.start(named: "snapshot") {
            let snapshot = SnapshotSink()
            snapshot.receive(frame)
            let path = SnapshotName.path(at: Date()) { FileManager.default.fileExists(atPath: $0) }
            do {
                try snapshot.write(to: path)
                Terminal.shared.say("Saved the frame to \(path).")
            } catch {
                Terminal.shared.say(CommandFailure(explaining: error).lines(after: "Warning: "))
            }
        }
    }
}
