internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// A room's share at a server, from one beginning to its end: what sessions at servers of all kinds have in common.
///
///     begin() ──▶ connected ⇄ disconnected ── another way, while there is a chance ──▶ ended
///     leave() ──────────────────────────────────────────────────────────────────────────▲
actor PublishedSession {
    /// Why it ends, where the connection does not know: in the words of the server's kind.
    struct Reasons: Sendable {
        /// The server knows the session no more.
        let gone: any Error
        /// The server stopped answering, and no other way to it was found.
        let lost: any Error
    }

    nonisolated let viewer: RoomViewer
    nonisolated let events: AsyncStream<PublishingSessionEvent>
    private nonisolated let continuation: AsyncStream<PublishingSessionEvent>.Continuation
    private let atServer: any SessionAtServer
    private let reasons: Reasons
    private var followers: [Task<Void, Never>] = []
    private var mending: Task<Void, Never>?
    /// The candidates that are sent to the server.
    private var candidates = TaskChain()
    /// Whether the server takes part in restarts, as far as that is known.
    private var takesRestarts = true
    private var reason: (any Error)?
    /// Whether the server may say more by itself.
    private var hearsServer = true
    private var isLeaving = false
    /// What the server missed that nobody was told of yet, and when somebody was last.
    private var untold = 0
    private var lastTold: ContinuousClock.Instant?

    /// What waits for its reader at most: far more than comes of a session that is worth anything.
    private static let mostWaiting = 1024
    /// Between two tries to ask the server for another way.
    private static let mendingPause = Duration.seconds(2)
    /// How long a server's word of why it ended something may take.
    private static let wordTime = Duration.seconds(2)
    /// More lost packets are not counted.
    private static let mostUntold = 1 << 30
    /// Between two words of losses: Janus has one each second.
    private static let lossesPause = Duration.seconds(30)

    init(of viewer: RoomViewer, at server: some SessionAtServer, reasons: Reasons) {
        self.viewer = viewer
        self.reasons = reasons
        atServer = server
        (events, continuation) = AsyncStream.makeStream(
            of: PublishingSessionEvent.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
    }

    /// Has `begin` meet the server; where that throws the session has ended, at the server too.
    func begin(_ begin: @Sendable () async throws -> Void) async throws {
        let signals = await viewer.session.signals
        let following = Task { [weak self] in
            for await signal in signals { await self?.handle(signal) }
        }
        let noticing = Task { [weak self, atServer] in
            for await notice in atServer.notices { await self?.server(says: notice) }
            await self?.serverSaysNoMore()
        }
        followers = [following, noticing]
        do {
            try await begin()
            // Who gave up hears of no session, however far this one came.
            try Task.checkCancellation()
        } catch {
            await leave()
            throw error
        }
    }

    /// Tells the server the end, as far as it can be reached, and leaves the room.
    func leave() async {
        isLeaving = true
        mending?.cancel()
        await atServer.end()
        await viewer.session.leave()
        // Those who hear nothing more are told so.
        for follower in followers { await follower.value }
        continuation.finish()
    }

    // MARK: While it lasts

    private func handle(_ signal: ConnectionSignal) async {
        switch signal {
        case .state(let state):
            if state != .disconnected {
                mending?.cancel()
                mending = nil
            }
            guard state.isOver else {
                continuation.yield(.state(state))
                if state == .disconnected { mend() }
                return
            }
            let failure = await viewer.session.failure
            if failure == nil { await hearWhy() }
            let isLost = (failure as? ConnectionError) == .lost
            continuation.yield(.ended(reason ?? (isLost ? reasons.lost : failure)))
            continuation.finish()
        case .restartNeeded: mend()
        case .localCandidate(let candidate, let mid, let ufrag):
            // A slow server must not delay the signals behind this one.
            candidates.append { [atServer] in await atServer.tell(candidate, mid: mid, ufrag: ufrag) }
        case .localCandidatesEnded: return
        }
    }

    /// A goodbye over the way of the media may be here before the server's word of why.
    private func hearWhy() async {
        let deadline = ContinuousClock.now + Self.wordTime
        while reason == nil, hearsServer, !isLeaving, ContinuousClock.now < deadline {
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return }
        }
    }

    private func serverSaysNoMore() { hearsServer = false }

    private func server(says notice: SessionNotice) async {
        switch notice {
        case .losses(let count): tell(losses: count)
        case .limited(let rate): continuation.yield(.limited(rate))
        case .ended(let error): await end(for: error)
        }
    }

    private func tell(losses count: Int) {
        untold = min(untold, Self.mostUntold) + count
        if let lastTold, lastTold.duration(to: .now) < Self.lossesPause { return }
        continuation.yield(.losses(untold))
        (untold, lastTold) = (0, .now)
    }

    /// Has another way looked for, again and again while the server can't be asked. One that no longer knows the session, as
    /// after its own restart, shows long before consent to send has expired that there is nothing to wait for.
    private func mend() {
        guard mending == nil else { return }
        mending = Task { [weak self] in
            while !Task.isCancelled, let isDone = await self?.tryToMend(), !isDone {
                guard (try? await Task.sleep(for: Self.mendingPause)) != nil else { return }
            }
            // One that was cancelled may have a successor by now.
            if !Task.isCancelled { await self?.mendingDidEnd() }
        }
    }

    private func mendingDidEnd() { mending = nil }

    private func tryToMend() async -> Bool {
        switch takesRestarts ? await atServer.restart() : .refused {
        case .begun: return true
        case .unreachable: return false
        case .gone: await end(for: reasons.gone)
        case .refused:
            takesRestarts = false
            // The way that there was may open again, for as long as the server consents.
            if await viewer.session.connection.needsRestart { await end(for: reasons.lost) }
        }
        return true
    }

    private func end(for reason: any Error) async {
        if self.reason == nil { self.reason = reason }
        await viewer.session.leave()
    }
}
