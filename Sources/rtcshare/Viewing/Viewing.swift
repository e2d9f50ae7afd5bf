internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareVideoCoding

/// A view of a share: shows tiles, records them, and keeps the newest frame.
@SharingActor final class Viewing {
    /// The counts of the main tile, which is the content if there is any.
    struct Seen: Sendable {
        var connected: ContinuousClock.Instant?
        var firstPicture: ContinuousClock.Instant?
        var frames = 0
        var size: PixelSize?
        /// The number of audio blocks of 20 ms.
        var soundBlocks = 0
    }

    fileprivate enum Occurrence: Sendable {
        /// The state of the session's connection changed.
        case state(ConnectionState)
        /// A player started a session, or failed to.
        case opened((any Error)?)
        case firstPicture
        /// The viewer waits for the presenter's admission.
        case waiting
        case failed(any Error)
        case interrupted
        case durationOver
        case second
    }

    private var session: AttendeeSession
    private var listener: ViewListener?
    /// The task that reports the states of the session's connection.
    private var states: Task<Void, Never>?
    /// The player of the session. Nil if descriptions connect it.
    private var player: (any SharePlayer)?
    /// The task that starts the session of a player. Nil before the first one.
    private var opening: Task<Void, Never>?
    private let snapshot: String?
    /// Whether the snapshot is reported with the other files.
    private let saysSnapshot: Bool
    private let statistics: StatisticsWriter?
    private let film: FilmFile?
    /// The sender of the film's tracks, which continue in each session.
    private let recording: RecordingSource?
    /// The counts, which the decoders' threads change.
    private nonisolated let seen = Locked(Seen())
    private nonisolated let mainTile = Locked<Int?>(nil)
    private nonisolated let picture = SnapshotSink()
    /// An additional sink for frames of the main tile.
    private nonisolated let observer: (any VideoSink)?
    fileprivate let window: ViewWindow?
    private let occurrences: AsyncStream<Occurrence>
    fileprivate nonisolated let continuation: AsyncStream<Occurrence>.Continuation

    /// Creates a view, and checks its files on the caller's thread.
    nonisolated init(
        session: AttendeeSession, record: String? = nil, snapshot: String? = nil, replacesSnapshot: Bool = false,
        saysSnapshot: Bool = true, statistics: StatisticsWriter? = nil, observer: (any VideoSink)? = nil,
        window: ViewWindow? = nil
    ) throws(CommandFailure) {
        // An error is better now than after the media were received.
        for path in [record, snapshot].compactMap({ $0 }) { try Self.checkWritable(path) }
        if let snapshot, !replacesSnapshot, FileManager.default.fileExists(atPath: snapshot) {
            throw CommandFailure(explaining: MediaFileError.alreadyExists(path: snapshot))
        }
        self.session = session
        self.snapshot = snapshot
        self.saysSnapshot = saysSnapshot
        self.statistics = statistics
        self.observer = observer
        self.window = window
        let (occurrences, continuation) = AsyncStream.makeStream(of: Occurrence.self)
        self.occurrences = occurrences
        self.continuation = continuation
        film = if let record { try FilmFile(path: record, activity: "viewing") } else { nil }
        recording = film?.recorder.addSource()
    }

    /// Throws if a file can't be written, before there is anything to write.
    private nonisolated static func checkWritable(_ path: String) throws(CommandFailure) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        var isFolder = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder {
            throw CommandFailure(.cannotCreate, "can't write \(path): it is a directory", try: "choose a file in it")
        }
        guard access(folder, W_OK) == 0 else {
            throw CommandFailure(
                explaining: MediaFileError.cannotOpen(path: path, reason: systemMessage(errno, path: path)))
        }
    }

    /// The counts up to now.
    nonisolated var summary: Seen { seen.withLock { $0 } }

    /// Runs until the sender leaves, the duration is over or the person stops it. `connect` exchanges descriptions,
    /// after the view is ready for media.
    func run(duration: Double?, interruption: Interruption, connect: () async throws -> Void) async throws {
        await attend(session)
        try await run(interruption) {
            try await connect()
            try await follow(duration: duration)
        }
    }

    /// Runs with the sessions of players, one after the other. If a server restarts, a new player connects. `begun` is
    /// called after the first session starts.
    func run(
        duration: Double?, interruption: Interruption, begun: () -> Void,
        player makePlayer: @escaping @Sendable () async throws -> any SharePlayer
    ) async throws {
        try await run(interruption) {
            opening = open(makePlayer, patience: .zero)
            try await follow(duration: duration, begun: begun) {
                self.opening = self.open(makePlayer, patience: Self.restartPatience)
            }
        }
    }

    private func run(_ interruption: Interruption, _ body: () async throws -> Void) async throws {
        window?.start { [continuation] error in continuation.yield(error.map { .failed($0) } ?? .interrupted) }
        let watchers = watch(interruption)
        do {
            try await body()
        } catch {
            await finish(watchers)
            // Received media are kept in spite of the failure. The failure is thrown, and not an error of keeping them.
            try? await keep()
            throw error
        }
        await finish(watchers)
        try await keep()
    }

    /// The time that a server has to return, for example from the presenter's lunch with a closed laptop, and the pause
    /// between two attempts.
    private static let restartPatience = Duration.seconds(2 * 3600)
    private static let restartPause = Duration.seconds(1)
    /// The timeout for leaving a server.
    private static let leavingTime = Duration.seconds(5)

    /// Receives the media of this session from now on.
    private func attend(_ session: AttendeeSession) async {
        let listener = ViewListener(self, session)
        mainTile.withLock { $0 = nil }
        states?.cancel()
        states = Task { [continuation] in
            for await state in session.states { continuation.yield(.state(state)) }
        }
        self.session = session
        self.listener = listener
        await window?.attend(session)
        session.tiles.add(observer: listener)
        session.audio.add(observer: listener)
        if let recording { session.recordReceived(to: recording) }
    }

    /// Starts a session. Failures that can be temporary are retried for the time `patience`.
    private func open(
        _ makePlayer: @escaping @Sendable () async throws -> any SharePlayer, patience: Duration
    ) -> Task<Void, Never> {
        Task { [self] in
            let end = ContinuousClock.now + patience
            while true {
                do {
                    let player = try await makePlayer()
                    self.player = player
                    await attend(player.session)
                    try await player.start()
                    continuation.yield(.opened(nil))
                    return
                } catch {
                    let pause = max(Self.restartPause, requestedPause(after: error))
                    guard !Task.isCancelled, ContinuousClock.now < end, mayPass(error),
                        (try? await Task.sleep(for: pause)) != nil
                    else {
                        continuation.yield(.opened(error))
                        return
                    }
                }
            }
        }
    }

    private func keep() async throws {
        try await closeAll([
            { [film] in try await film?.close() }, writeSnapshot, { [statistics] in try await statistics?.close() },
        ])
    }

    private func writeSnapshot() async throws {
        guard let snapshot else { return }
        guard summary.frames > 0 else { return Terminal.shared.say("No snapshot was saved: no video arrived.") }
        try await WorkerThread.run(named: "snapshot") { [picture] () throws(MediaFileError) in
            try picture.write(to: snapshot)
        }
        if saysSnapshot { Terminal.shared.say("Snapshot: \(snapshot)") }
    }

    private func watch(_ interruption: Interruption) -> [Task<Void, Never>] {
        [
            Task {
                while (try? await Task.sleep(for: .seconds(1))) != nil { continuation.yield(.second) }
            },
            Task { for await _ in interruption.requested { continuation.yield(.interrupted) } },
        ]
    }

    /// Handles events. `reopen` starts a new session after one was lost.
    private func follow(
        duration: Double?, begun: () -> Void = {}, reopen: (() -> Void)? = nil
    ) async throws {
        var secondsWithoutPicture: Int?
        var isOpening = reopen != nil
        var hasBegun = false
        var previous = ConnectionState.new
        for await occurrence in occurrences {
            switch occurrence {
            case .state(let state):
                defer { previous = state }
                guard state != previous else { continue }
                switch state {
                case .new, .connecting: continue
                case .connected where previous == .disconnected:
                    window?.setConnected(true)
                    Terminal.shared.say("Reconnected.")
                case .connected:
                    seen.withLock { $0.connected = .now }
                    secondsWithoutPicture = 0
                    Terminal.shared.say("Connected.")
                    Task { if await player?.isWaiting == true { continuation.yield(.waiting) } }
                case .disconnected:
                    window?.setConnected(false)
                    Terminal.shared.say("The connection to the presenter is lost. Reconnecting.")
                case .failed, .closed:
                    guard !isOpening else { continue }
                    let player = player
                    let failure = session.failure
                    let reason = await player?.reason(after: failure) ?? failure
                    guard let reason else { return Terminal.shared.say("The presenter ended the connection.") }
                    guard let reopen, mayPass(reason) else { throw reason }
                    // A network that has never let the media through needs a person.
                    if summary.connected == nil, case .unreachable? = reason as? ConnectionError { throw reason }
                    Terminal.shared.say("The server restarted or lost the session. Opening the link again.")
                    isOpening = true
                    await withTimeLimit(Self.leavingTime) { await player?.leave() }
                    reopen()
                }
            case .waiting:
                secondsWithoutPicture = nil
                Terminal.shared.say("Waiting for the presenter to admit you.")
            case .firstPicture:
                guard let duration else { continue }
                Task {
                    try? await Task.sleep(for: .seconds(duration))
                    continuation.yield(.durationOver)
                }
            case .opened(let error?): throw error
            case .opened(nil):
                isOpening = false
                if !hasBegun { begun() }
                hasBegun = true
                // The end of a session was not handled while it started.
                let state = session.state
                guard state.isOver else { continue }
                previous = .new
                continuation.yield(.state(state))
            case .failed(let error): throw error
            case .second:
                Terminal.shared.flush()
                statistics?.write([await report()])
                guard let seconds = secondsWithoutPicture else { continue }
                secondsWithoutPicture = seconds < Self.patience ? seconds + 1 : nil
                if secondsWithoutPicture == nil, session.tiles.tiles.isEmpty {
                    Terminal.shared.say("Waiting for the first frame. The presenter sends no video yet.")
                }
            case .interrupted, .durationOver: return
            }
        }
    }

    /// The number of seconds without a frame after which that is printed.
    private static let patience = 3

    private func report() async -> StatisticsReport {
        var report = await session.stats()
        window?.addPlayback(to: &report)
        return report
    }

    private func finish(_ watchers: [Task<Void, Never>]) async {
        // This comes before the session is left, so that no session starts after that.
        opening?.cancel()
        statistics?.write([await report()])
        await window?.stop()
        await withTimeLimit(Self.leavingTime) { [player, session, opening] in
            await player?.leave()
            await session.leave()
            // The server may have a session whose start was canceled, which then ends it.
            await opening?.value
        }
        for watcher in watchers { watcher.cancel() }
    }

    // MARK: Tiles

    /// Reports a tile that was added, and counts its frames.
    fileprivate func show(_ tile: VideoTileState, of session: AttendeeSession) {
        Terminal.shared.say(
            "Video \(tile.tileID) is added: \(tile.isContent ? "screen" : "camera") of \(tile.attendeeID.name), "
                + "\(tile.size).")
        do {
            // The main tile is the content. Until there is content, it is the first tile.
            mainTile.withLock { if tile.isContent || $0 == nil { $0 = tile.tileID } }
            try session.tiles.bind(TileSink(tile: tile.tileID, viewing: self), toTile: tile.tileID)
        } catch {
            continuation.yield(.failed(error))
        }
    }

    fileprivate func listen(to sound: RemoteAudio, of session: AttendeeSession) {
        Terminal.shared.say("\(sound.words) is added.")
        do {
            try session.audio.bind(SoundCounter(viewing: self), toAudio: sound.audioID)
        } catch {
            continuation.yield(.failed(error))
        }
    }

    /// Counts and keeps a frame of the main tile.
    fileprivate nonisolated func receive(_ frame: VideoFrame, ofTile tile: Int) {
        guard mainTile.withLock({ $0 }) == tile else { return }
        let isFirst = seen.withLock { seen in
            defer { seen.firstPicture = seen.firstPicture ?? .now }
            seen.frames += 1
            seen.size = frame.size
            return seen.firstPicture == nil
        }
        picture.receive(frame)
        observer?.receive(frame)
        if isFirst { continuation.yield(.firstPicture) }
    }

    fileprivate nonisolated func countSound() {
        seen.withLock { $0.soundBlocks += 1 }
    }
}

/// An observer that passes the tiles and audio streams of a session to the viewing.
@SharingActor private final class ViewListener: VideoTileObserver, RemoteAudioObserver {
    private let viewing: Viewing
    private let session: AttendeeSession

    init(_ viewing: Viewing, _ session: AttendeeSession) {
        (self.viewing, self.session) = (viewing, session)
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        viewing.show(tile, of: session)
        viewing.window?.update(tile)
    }

    func videoTileDidRemove(_ tile: VideoTileState) {
        say(tile, "is removed")
        viewing.window?.remove(tile)
    }

    func videoTileDidResume(_ tile: VideoTileState) { update(tile, "continues") }
    func videoTileSizeDidChange(_ tile: VideoTileState) { update(tile, "is now \(tile.size)") }

    func videoTileSubgroupDidChange(_ tile: VideoTileState) {
        say(tile, "is shared to \(tile.subgroup.map { "the subgroup \($0)" } ?? "the main room")")
    }

    func videoTileDidPause(_ tile: VideoTileState) {
        update(
            tile,
            tile.pauseState == .pausedForPoorConnection
                ? "is interrupted, because the connection is too slow or broken" : "is paused")
    }

    func remoteAudioDidAdd(_ sound: RemoteAudio) { viewing.listen(to: sound, of: session) }
    func remoteAudioDidRemove(_ sound: RemoteAudio) { Terminal.shared.say("\(sound.words) is removed.") }

    private func update(_ tile: VideoTileState, _ change: String) {
        say(tile, change)
        viewing.window?.update(tile)
    }

    private func say(_ tile: VideoTileState, _ change: String) {
        Terminal.shared.say("Video \(tile.tileID) \(change).")
    }
}

extension RemoteAudio {
    fileprivate var words: String { "The audio of \(attendeeID.name)'s \(isContent ? "screen" : "microphone")" }
}

/// A sink that passes the frames of a tile to the viewing.
private final class TileSink: VideoSink {
    private let tile: Int
    private let viewing: Viewing

    init(tile: Int, viewing: Viewing) {
        self.tile = tile
        self.viewing = viewing
    }

    func receive(_ frame: VideoFrame) { viewing.receive(frame, ofTile: tile) }
}

private final class SoundCounter: AudioSink {
    private let viewing: Viewing

    init(viewing: Viewing) {
        self.viewing = viewing
    }

    func receive(_ frame: AudioFrame) { viewing.countSound() }
}
