internal import Logging
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// One publisher in a Janus room (VideoRoom): publishes a room's share, encoded once for all viewers, until the server,
/// a lost route, somebody in the room or the program ends it.
///
///     start() ── create, attach, join, publish ──▶ connected ⇄ disconnected ── configure, with an ICE restart ─▶ ended
///     leave() ── destroy ────────────────────────────────────────────────────────────────────────────────────────▲
public final class JanusSession: PublishingSession {
    /// The server as a viewer of the room: for statistics and limits.
    public let viewer: RoomViewer
    /// The events, in order, until the session has ended, for one reader.
    public var events: AsyncStream<PublishingSessionEvent> { signaled.events }
    private let signaled: SignaledSession

    /// Creates a session, which ``start()`` starts. It is a viewer of the room from now on, until ``leave()``.
    public init(at endpoint: JanusEndpoint, publishing room: SharingRoom) async throws {
        viewer = try await room.addViewer(
            restrictedTo: endpoint.media, configuration: endpoint.configuration.mending,
            membership: endpoint.membership)
        signaled = SignaledSession(
            of: viewer.session, at: JanusPublisher(endpoint, viewer.session.connection), reasons: .janus)
    }

    /// Joins the room, and publishes. ``events`` reports everything that follows.
    /// - Throws: ``JanusError``, ``HTTPClientError``, `NegotiationError`, `ConnectionError`, `CancellationError`. The
    ///   session has ended then, at the server too.
    public func start() async throws { try await signaled.begin() }

    /// Notifies the server of the end, if it can be reached, and leaves the room.
    public func leave() async { await signaled.leave() }
}

/// The session of a publisher at the server. Its state is the handle's.
private struct JanusPublisher: ServerSession {
    private let endpoint: JanusEndpoint
    private let connection: Connection
    private let handle: JanusHandle

    nonisolated init(_ endpoint: JanusEndpoint, _ connection: Connection) {
        self.endpoint = endpoint
        self.connection = connection
        handle = JanusHandle(
            endpoint.address, endpoint.credentials, eventLoopGroup: endpoint.eventLoopGroup,
            logger: endpoint.configuration.logger)
    }

    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) async {
        for await event in handle.events {
            switch event {
            case .losses(let count): await take(.losses(count))
            case .ended(let error): await take(.ended(error))
            case .report(let report, _) where report.videoroom == "destroyed":
                await take(.ended(JanusError.roomGone))
            case .report(let report, _) where report.leaving == .name("ok") && report.reason == "kicked":
                await take(.ended(JanusError.kicked))
            case .report: continue
            }
        }
    }

    func begin() async throws -> DataRate? {
        try await connection.gather(patience: JanusHandle.gatheringPatience)
        try await handle.open()
        try await join()
        var publishing = JanusRoomRequest("publish")
        publishing.display = endpoint.display
        publishing.bitrate = endpoint.requestedBitrate.map { Int($0.bitsPerSecond) }
        try await negotiate(publishing)
        return endpoint.requestedBitrate == nil ? await limit() : nil
    }

    /// Returns the room's default bitrate limit for publishers, if rooms are listed: 128 kbit/s in some, which is too
    /// low for a sharp screen.
    private func limit() async -> DataRate? {
        await listedRoom()?.bitrate.flatMap { $0 > 0 ? .bitsPerSecond($0) : nil }
    }

    /// Returns the room's properties, if rooms are listed.
    private func listedRoom() async -> JanusRoomReport.Room? {
        let rooms = try? await handle.ask(JanusRoomRequest("list")).report.list
        return rooms?.first { $0.room.asName == endpoint.room.asName }
    }

    private func join() async throws {
        var joining = JanusRoomRequest("join", endpoint.room, endpoint.credentials)
        joining.ptype = "publisher"
        joining.display = endpoint.display
        _ = try await handle.ask(ofRoom: &joining)
    }

    /// Sends an offer with a request, and sets the answer.
    private func negotiate(_ request: JanusRoomRequest) async throws {
        let offer = try await connection.makeOffer()
        let answered = try await handle.ask(
            request, JanusDescription(type: "offer", sdp: offer.description, trickle: false))
        guard let description = answered.description, description.type == "answer" else { throw JanusError.noAnswer }
        let answer = try await SessionDescription.reading(description.sdp.utf8)
        guard answer.takesPictures else {
            throw JanusError.pictureDeclined(
                offered: offer.videoCodecs, accepted: await listedRoom()?.videoCodecs ?? [])
        }
        try Task.checkCancellation()
        try await connection.accept(answer: answer, to: offer)
    }

    func restart() async -> SessionRestart {
        await connection.restartICE()
        do {
            // Candidates are not trickled.
            await connection.gatherAgain(patience: JanusHandle.gatheringPatience)
            try await handle.reconnect()
            try await negotiate(JanusRoomRequest("configure"))
            return .begun
        } catch {
            await connection.rollbackOffer()
            endpoint.configuration.logger.info("another route could not be requested: \(error)")
            return SessionRestart(failedWith: error)
        }
    }

    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        await handle.send(candidate, mid: mid)
    }

    func end() async { await handle.close() }
}

extension SessionRestart {
    /// Creates the outcome of a restart that failed with an error of Janus.
    init(failedWith error: any Error) {
        self =
            switch error {
            case JanusError.sessionGone, JanusError.connectionClosed: .gone
            case is HTTPClientError: .unreachable
            // A proxy whose server does not answer; a WebSocket has no status.
            case JanusError.noJanus(let status, _) where status.map { $0 >= 500 } ?? true: .unreachable
            default: .refused
            }
    }
}

extension SignaledSession.Reasons {
    static let janus = Self(gone: JanusError.sessionGone, lost: JanusError.lost)
}
