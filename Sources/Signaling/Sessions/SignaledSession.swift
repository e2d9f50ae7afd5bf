internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport

/// A session with a server, from its start to its end: the common part of publishing and playing.
///
///     begin() ──▶ connected ⇄ disconnected ── an ICE restart, if possible ──────────▶ ended
///     leave() ──────────────────────────────────────────────────────────────────────────▲
@SharingActor final class SignaledSession {
    /// The reasons for an end that the connection does not know, as errors of the protocol.
    struct Reasons: Sendable {
        /// The server does not know the session any more.
        let gone: any Error
        /// The server stopped answering, and no other route to it was found.
        let lost: any Error
    }

    private typealias Candidate = (value: CandidateAttribute, mid: String, ufrag: String)

    /// The events, in order, until the session has ended, for one reader.
    nonisolated let events: AsyncStream<PublishingSessionEvent>
    private let continuation: AsyncStream<PublishingSessionEvent>.Continuation
    private let session: AttendeeSession
    private let serverSession: any ServerSession
    private let reasons: Reasons
    /// The task that reads the connection's signals and, below, the one that reads the server's events.
    private var following: Task<Void, Never>?
    private var noticing: Task<Void, Never>?
    private var mending: Task<Void, Never>?
    /// The task that notifies the server of the end.
    private var ending: Task<Void, Never>?
    /// The candidates that wait until the server has accepted those before. A slow server must not delay other signals.
    private let candidates = AsyncStream.makeStream(of: Candidate.self)
    /// Whether the server supports restarts, as far as that is known.
    private var takesRestarts = true
    /// The reason for an end by this side; nil if there was none.
    private(set) var reason: (any Error)?
    private var isOver = false
    private var isLeaving = false
    /// The number of losses that were not reported yet, and the time of the last report.
    private var unreportedLosses = 0
    private var lastReport: ContinuousClock.Instant?

    /// The maximum number of events that wait for their reader, far more than a usable session has.
    private nonisolated static let mostWaiting = 1024
    /// The time to wait for the server's reason for an end.
    private static let wordTime = Duration.seconds(2)
    /// The maximum number of counted losses.
    private static let maximumUnreported = 1 << 30
    /// The minimum interval of reports of losses: Janus has one each second.
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

    /// Starts the session. If this throws, the session has ended, at the server too.
    func begin() async throws {
        let signals = session.signals
        following = Task { [weak self] in
            for await signal in signals { await self?.handle(signal) }
        }
        noticing = Task { [weak self, serverSession] in
            await serverSession.receiveNotices { [weak self] in await self?.server(says: $0) }
        }
        // Ends with this session, or when the connection is over.
        Task { [serverSession, candidates = candidates.stream] in
            for await (candidate, mid, ufrag) in candidates {
                await serverSession.send(candidate, mid: mid, ufrag: ufrag)
            }
        }
        do {
            let limit = try await serverSession.begin()
            // A canceled caller must not receive a session, however far this one came.
            try Task.checkCancellation()
            if let limit { continuation.yield(.limited(limit)) }
        } catch {
            await leave()
            // A leave in the meantime had nothing to end at the server yet.
            await serverSession.end()
            throw error
        }
    }

    /// Notifies the server of the end, if it can be reached, and leaves.
    func leave() async {
        isLeaving = true
        mending?.cancel()
        await endAtServer()
        await session.leave()
        // Readers are notified of the end.
        await following?.value
        await noticing?.value
        continuation.finish()
    }

    /// Returns the reason for the end of a session whose connection ended with `error`; nil if the server ended it.
    func reason(after error: (any Error)?) -> (any Error)? {
        reason ?? ((error as? ConnectionError) == .lost ? reasons.lost : error)
    }

    // MARK: Events

    private func handle(_ signal: ConnectionSignal) async {
        switch signal {
        case .state(let state):
            if state != .disconnected { mending?.cancel() }
            guard state.isOver else {
                continuation.yield(.state(state))
                if state == .disconnected { mend() }
                return
            }
            candidates.continuation.finish()
            let failure = session.failure
            // A goodbye on the media's route may arrive before the server's reason.
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

    /// Starts an ICE restart. A server that no longer knows the session, for example after its own restart, reveals
    /// long before the expiry of consent that waiting is useless.
    private func mend() {
        guard mending == nil, !isLeaving else { return }
        mending = Task { [weak self, serverSession, takesRestarts] in
            let outcome = takesRestarts ? await findAnotherWay { await serverSession.restart() } : .refused
            await self?.mendingDidEnd(outcome, isNeeded: !Task.isCancelled)
        }
    }

    private func mendingDidEnd(_ outcome: SessionRestart, isNeeded: Bool) async {
        mending = nil
        guard isNeeded else {
            // The route came back meanwhile, and may be lost again.
            if session.state == .disconnected { mend() }
            return
        }
        switch outcome {
        case .begun, .unreachable: return
        case .gone: await end(for: reasons.gone)
        case .refused:
            takesRestarts = false
            // The old route may work again, as long as consent lasts.
            if await session.connection.needsRestart { await end(for: reasons.lost) }
        }
    }

    /// Ends the session, unless it has ended before: a server disconnects viewers who leave.
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

/// Requests an ICE restart, repeatedly while the server can't be reached.
func findAnotherWay(
    pause: Duration = .seconds(1), by restart: @escaping @Sendable () async -> SessionRestart
) async -> SessionRestart {
    while !Task.isCancelled {
        // A restart is completed even if the route comes back: the server may have accepted it, and then only new
        // credentials connect.
        let outcome = await Task { await restart() }.value
        guard outcome == .unreachable, (try? await Task.sleep(for: pause)) != nil else { return outcome }
    }
    return .unreachable
}
