internal import FoundationEssentials
internal import Glibc
internal import Logging
public import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// One session at a WHIP server (RFC 9725): publishes a room's share, from the room's one encode, until the server, the way
/// to it or the program ends it.
///
///     start() ── POST offer ──▶ connected ⇄ away ── PATCH, while there is a chance ──▶ ended
///     leave() ── DELETE ──────────────────────────────────────────────────────────────────▲
///
/// While the server does not answer, ICE is restarted where the server takes part in that; a session that is lost is not
/// begun again: that is for a ``Publication``.
public actor WHIPSession: PublishingSession {
    /// The server's place in the room: for statistics and limits.
    public nonisolated let viewer: RoomViewer
    /// How it goes, in order, until it has ended; one reader.
    public nonisolated let events: AsyncStream<PublishingSessionEvent>
    private nonisolated let continuation: AsyncStream<PublishingSessionEvent>.Continuation
    private let atServer: EndpointSession
    private let listener: EndpointListener
    private let heard: AsyncStream<EndpointListener.Event>
    private var follower: Task<Void, Never>?
    private var mending: Task<Void, Never>?
    /// Whether the server takes part in restarts, as far as that is known.
    private var takesRestarts = true
    /// Why it ends, where the connection does not know.
    private var reason: WHIPError?

    /// Between two tries to ask the server for another way.
    private static let mendingPause = Duration.seconds(2)

    /// A session that ``start()`` begins, with a place in the room from now on; ``leave()`` gives it back.
    public init(at endpoint: WHIPEndpoint, publishing room: SharingRoom) async throws {
        let configuration = endpoint.configuration.mending
        viewer = try await room.addViewer(
            restrictedTo: endpoint.media, configuration: configuration, membership: endpoint.membership)
        atServer = EndpointSession(
            endpoint: endpoint.url, token: endpoint.token, connection: viewer.session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, logger: configuration.logger)
        (events, continuation) = AsyncStream.makeStream(of: PublishingSessionEvent.self)
        let (heard, hearing) = AsyncStream.makeStream(of: EndpointListener.Event.self)
        self.heard = heard
        listener = EndpointListener { hearing.yield($0) }
        viewer.session.add(observer: listener)
    }

    /// Offers the share, and takes the answer. What becomes of it then, ``events`` tells.
    /// - Throws: ``WHIPError``, ``HTTPClientError``, `NegotiationError`, `ConnectionError`, `CancellationError`. The session
    ///   has ended then, at the server too.
    public func start() async throws {
        follower = Task { [weak self, heard] in
            for await event in heard {
                await self?.session(did: event)
                if case .ended = event { return }
            }
        }
        do {
            try await atServer.begin { answer in
                // Sound alone is no share, and would end that of a room without other viewers.
                guard
                    answer.media.contains(where: { $0.kind == "video" && $0.port != 0 })
                        || !answer.media.contains(where: { $0.kind == "video" })
                else { throw WHIPError.pictureDeclined }
            }
            // Who gave up hears of no session, however far this one came.
            try Task.checkCancellation()
        } catch {
            await leave()
            throw (error as? EndpointSession.Failure).map(WHIPError.init) ?? error
        }
    }

    /// Tells the server the end, as far as it can be reached, and leaves the room.
    public func leave() async {
        mending?.cancel()
        await atServer.end()
        await viewer.session.leave()
        // Those who hear nothing more are told so.
        await follower?.value
        continuation.finish()
    }

    // MARK: While it lasts

    private func session(did event: EndpointListener.Event) async {
        switch event {
        case .connected: continuation.yield(.connected)
        case .away:
            continuation.yield(.away)
            mend()
        case .back:
            mending?.cancel()
            mending = nil
            continuation.yield(.back)
        case .needsRestart: mend()
        case .found(let candidate, let mid, let ufrag): await atServer.tell(candidate, mid: mid, ufrag: ufrag)
        case .ended(let error):
            mending?.cancel()
            let isLost = (error as? ConnectionError) == .lost
            continuation.yield(.ended(reason ?? (isLost ? WHIPError.lost : error)))
            continuation.finish()
        }
    }

    /// Has another way looked for, again and again while the server can't be asked. One that no longer knows the session, as
    /// after its own restart, shows long before consent to send has expired that there is nothing to wait for.
    private func mend() {
        guard mending == nil else { return }
        mending = Task { [weak self] in
            while !Task.isCancelled, let isDone = await self?.tryToMend(), !isDone {
                guard (try? await Task.sleep(for: Self.mendingPause)) != nil else { return }
            }
            await self?.mendingDidEnd()
        }
    }

    private func mendingDidEnd() {
        if mending?.isCancelled == false { mending = nil }
    }

    private func tryToMend() async -> Bool {
        switch takesRestarts ? await atServer.restart() : .refused {
        case .begun: return true
        case .unreachable: return false
        case .gone: await end(for: .sessionGone)
        case .refused:
            takesRestarts = false
            // The way that there was may open again, for as long as the server consents.
            if await viewer.session.connection.needsRestart { await end(for: .lost) }
        }
        return true
    }

    private func end(for reason: WHIPError) async {
        self.reason = reason
        await viewer.session.leave()
    }
}
