internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport

/// A session with a server, from its beginning to its end: what those that publish and those that play have in common.
///
///     begin() ──▶ connected ⇄ disconnected ── another way, while there is a chance ──▶ ended
///     leave() ──────────────────────────────────────────────────────────────────────────▲
@SharingActor final class SignaledSession {
    /// Why it ends, where the connection does not know: in the words of the server's kind.
    struct Reasons: Sendable {
        /// The server knows the session no more.
        let gone: any Error
        /// The server stopped answering, and no other way to it was found.
        let lost: any Error
    }

    private typealias Candidate = (value: CandidateAttribute, mid: String, ufrag: String)

    /// How it goes, in order, until it has ended; one reader.
    nonisolated let events: AsyncStream<PublishingSessionEvent>
    private let continuation: AsyncStream<PublishingSessionEvent>.Continuation
    private let session: AttendeeSession
    private let serverSession: any ServerSession
    private let reasons: Reasons
    /// Reads the connection's signals, and what the server says by itself.
    private var following: Task<Void, Never>?
    private var noticing: Task<Void, Never>?
    private var mending: Task<Void, Never>?
    /// Tells the server the end.
    private var ending: Task<Void, Never>?
    /// The candidates that wait until the server has taken those before. A slow server must not delay other signals.
    private let candidates = AsyncStream.makeStream(of: Candidate.self)
    /// Whether the server takes part in restarts, as far as that is known.
    private var takesRestarts = true
    /// Why it was ended on this side; nil where it was not, or without a reason.
    private(set) var reason: (any Error)?
    private var isOver = false
    private var isLeaving = false
    /// What the server missed that nobody was told of yet, and when somebody was last.
    private var unreportedLosses = 0
    private var lastReport: ContinuousClock.Instant?

    /// What waits for its reader at most: far more than comes of a session that is worth anything.
    private nonisolated static let mostWaiting = 1024
    /// How long a server's word of why it ended something may take.
    private static let wordTime = Duration.seconds(2)
    /// More lost packets are not counted.
    private static let maximumUnreported = 1 << 30
    /// Between two words of losses: Janus has one each second.
    private static let lossesPause = Duration.seconds(30)

    nonisolated init(of session: AttendeeSession, at server: some ServerSession, reasons: Reasons) {
        self.session = session
        self.reasons = reasons
        serverSession = server
        (events, continuation) = AsyncStream.makeStream(
            of: PublishingSessionEvent.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
    }

    deinit {
        mending?.cancel()
        candidates.continuation.finish()
    }

    /// Meets the server. If that throws, the session has ended, at the server too.
    func begin() async throws {
        let signals = session.signals
        following = Task { [weak self] in
            for await signal in signals { await self?.handle(signal) }
        }
        noticing = Task { [weak self, serverSession] in
            await serverSession.receiveNotices { [weak self] in await self?.server(says: $0) }
        }
        // It ends with this session, or once the connection is over.
        Task { [serverSession, candidates = candidates.stream] in
            for await (candidate, mid, ufrag) in candidates {
                await serverSession.send(candidate, mid: mid, ufrag: ufrag)
            }
        }
        do {
            let limit = try await serverSession.begin()
            // Who gave up hears of no session, however far this one came.
            try Task.checkCancellation()
            if let limit { continuation.yield(.limited(limit)) }
        } catch {
            await leave()
            // A leave that came meanwhile found nothing at the server yet.
            await serverSession.end()
            throw error
        }
    }

    /// Tells the server the end, as far as it can be reached, and leaves.
    func leave() async {
        isLeaving = true
        mending?.cancel()
        await endAtServer()
        await session.leave()
        // Those who hear nothing more are told so.
        await following?.value
        await noticing?.value
        continuation.finish()
    }

    /// Why the session ended, which the connection says ended with `error`; nil if the server's side took its leave.
    func reason(after error: (any Error)?) -> (any Error)? {
        reason ?? ((error as? ConnectionError) == .lost ? reasons.lost : error)
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
            candidates.continuation.finish()
            let failure = session.failure
            // A goodbye over the way of the media may be here before the server's word of why.
            if failure == nil, !isOver { await withTimeLimit(Self.wordTime) { [noticing] in await noticing?.value } }
            continuation.yield(.ended(reason(after: failure)))
            continuation.finish()
        case .restartNeeded: mend()
        case .localCandidate(let candidate, let mid, let ufrag):
            candidates.continuation.yield((candidate, mid, ufrag))
        case .localCandidatesEnded: return
        }
    }

    private func server(says notice: SessionNotice) async {
        switch notice {
        case .losses(let count): report(losses: count)
        case .ended(let error): await end(for: error)
        }
    }

    private func report(losses count: Int) {
        unreportedLosses = min(unreportedLosses, Self.maximumUnreported) + count
        if let lastReport, lastReport.duration(to: .now) < Self.lossesPause { return }
        continuation.yield(.losses(unreportedLosses))
        (unreportedLosses, lastReport) = (0, .now)
    }

    /// Has another way looked for. A server that no longer knows the session, as after its own restart, shows long before
    /// consent to send has expired that there is nothing to wait for.
    private func mend() {
        guard mending == nil, !isLeaving else { return }
        mending = Task { [weak self, serverSession, takesRestarts] in
            let outcome = takesRestarts ? await findAnotherWay { await serverSession.restart() } : .refused
            // One that was cancelled may have a successor by now.
            if !Task.isCancelled { await self?.mendingDidEnd(outcome) }
        }
    }

    private func mendingDidEnd(_ outcome: SessionRestart) async {
        mending = nil
        switch outcome {
        case .begun, .unreachable: return
        case .gone: await end(for: reasons.gone)
        case .refused:
            takesRestarts = false
            // The way that there was may open again, for as long as the server consents.
            if await session.connection.needsRestart { await end(for: reasons.lost) }
        }
    }

    /// Ends it, unless it was ended before: a server hangs up on viewers who leave.
    private func end(for reason: (any Error)?) async {
        guard !isOver, !isLeaving else { return }
        isOver = true
        self.reason = reason
        await session.leave()
        await endAtServer()
    }

    private func endAtServer() async {
        let ending = ending ?? Task { [serverSession] in await serverSession.end() }
        self.ending = ending
        await ending.value
    }
}

/// Looks for another way to a server, again and again while it can't be asked.
func findAnotherWay(
    pause: Duration = .seconds(2), by restart: @Sendable () async -> SessionRestart
) async -> SessionRestart {
    while !Task.isCancelled {
        let outcome = await restart()
        guard outcome == .unreachable, (try? await Task.sleep(for: pause)) != nil else { return outcome }
    }
    return .unreachable
}
