internal import Logging
public import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareWireFormat

/// One publisher in a room of a Janus' VideoRoom: publishes a room's share, from the room's one encode, until the server, the
/// way to it, somebody in the room or the program ends it.
///
///     start() ── create, attach, join, publish ──▶ connected ⇄ disconnected ── configure, with ICE begun anew ──▶ ended
///     leave() ── destroy ────────────────────────────────────────────────────────────────────────────────────────▲
public final class JanusSession: PublishingSession {
    private let atServer: JanusPublisher
    private let published: PublishedSession

    /// The server's place in the room: for statistics and limits.
    public var viewer: RoomViewer { published.viewer }
    /// How it goes, in order, until it has ended; one reader.
    public var events: AsyncStream<PublishingSessionEvent> { published.events }

    /// A session that ``start()`` begins, with a place in the room from now on; ``leave()`` gives it back.
    public init(at endpoint: JanusEndpoint, publishing room: SharingRoom) async throws {
        let viewer = try await room.addViewer(
            restrictedTo: endpoint.media, configuration: endpoint.configuration.mending,
            membership: endpoint.membership)
        atServer = JanusPublisher(endpoint, viewer.session.connection)
        published = PublishedSession(
            of: viewer, at: atServer,
            reasons: PublishedSession.Reasons(gone: JanusError.sessionGone, lost: JanusError.lost))
    }

    /// Joins the room, and publishes. What becomes of it then, ``events`` tells.
    /// - Throws: ``JanusError``, ``HTTPClientError``, `NegotiationError`, `ConnectionError`, `CancellationError`. The session
    ///   has ended then, at the server too.
    public func start() async throws {
        try await published.begin { [atServer] in try await atServer.begin() }
    }

    /// Tells the server the end, as far as it can be reached, and leaves the room.
    public func leave() async { await published.leave() }
}

/// A publisher as Janus has it.
private actor JanusPublisher: SessionAtServer {
    nonisolated let notices: AsyncStream<SessionNotice>
    private nonisolated let continuation: AsyncStream<SessionNotice>.Continuation
    private let endpoint: JanusEndpoint
    private let connection: Connection
    private let handle: JanusHandle

    /// What waits for its reader at most.
    private static let mostWaiting = 1024
    /// How long to wait for servers that help to connect before the offer is made.
    private static let gatheringPatience = Duration.seconds(5)

    init(_ endpoint: JanusEndpoint, _ connection: Connection) {
        self.endpoint = endpoint
        self.connection = connection
        let handle = JanusHandle(
            endpoint.address, endpoint.credentials, eventLoopGroup: endpoint.eventLoopGroup,
            logger: endpoint.configuration.logger)
        self.handle = handle
        let (notices, continuation) = AsyncStream.makeStream(
            of: SessionNotice.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
        (self.notices, self.continuation) = (notices, continuation)
        // Ends with the handle.
        Task {
            for await event in handle.events {
                if let notice = Self.notice(of: event) { continuation.yield(notice) }
            }
            continuation.finish()
        }
    }

    private static func notice(of event: JanusHandle.Event) -> SessionNotice? {
        switch event {
        case .losses(let count): .losses(count)
        case .ended(let error): .ended(error)
        case .report(let report, _) where report.videoroom == "destroyed": .ended(JanusError.roomGone)
        case .report(let report, _) where report.leaving == .name("ok") && report.reason == "kicked":
            .ended(JanusError.kicked)
        case .report: nil
        }
    }

    func begin() async throws {
        try await connection.gather(patience: Self.gatheringPatience)
        try await handle.open()
        try await join()
        var publishing = JanusRoomRequest("publish")
        publishing.display = endpoint.display
        publishing.bitrate = endpoint.requestedBitrate.map { Int($0.bitsPerSecond) }
        try await negotiate(publishing)
        if endpoint.requestedBitrate == nil { await tellLimit() }
    }

    /// What the room takes of a publisher who asks for nothing else, as far as rooms are listed: 128 kbit/s in some, with which
    /// no screen is sharp.
    private func tellLimit() async {
        let rooms = try? await handle.ask(JanusRoomRequest("list")).report.list
        let room = rooms?.first { $0.room.asName == endpoint.room.asName }
        guard let bitrate = room?.bitrate, bitrate > 0 else { return }
        continuation.yield(.limited(.bitsPerSecond(bitrate)))
    }

    private func join() async throws {
        var joining = JanusRoomRequest("join")
        joining.ptype = "publisher"
        joining.room = endpoint.room
        joining.display = endpoint.display
        joining.pin = endpoint.credentials.pin
        joining.token = endpoint.credentials.token
        do {
            _ = try await handle.ask(joining)
        } catch JanusError.refused(let refusal) where refusal.meaning == .wrongKind && refusal.names("room") {
            // Rooms of a server with `string_ids` may be called by a number, too.
            joining.room = endpoint.room.asName
            _ = try await handle.ask(joining)
        }
    }

    /// Offers by a request, and takes the answer.
    private func negotiate(_ request: JanusRoomRequest) async throws {
        let offer = try await connection.makeOffer()
        let answered = try await handle.ask(
            request, JanusDescription(type: "offer", sdp: offer.description, trickle: false))
        guard let description = answered.description, description.type == "answer" else { throw JanusError.noAnswer }
        let answer = try SessionDescription.parse(description.sdp)
        guard answer.takesPictures else { throw JanusError.pictureDeclined }
        try Task.checkCancellation()
        try await connection.accept(answer: answer, to: offer)
    }

    func restart() async -> SessionRestart {
        await connection.restartICE()
        do {
            // Candidates aren't told one by one.
            await connection.gatherAgain(patience: Self.gatheringPatience)
            try await negotiate(JanusRoomRequest("configure"))
            return .begun
        } catch {
            await connection.rollbackOffer()
            endpoint.configuration.logger.info("another route could not be requested: \(error)")
            return SessionRestart(failedWith: error)
        }
    }

    func tell(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        do {
            try await handle.tell(JanusCandidate(sdpMid: mid, candidate: "candidate:\(candidate.value)"))
        } catch {
            endpoint.configuration.logger.debug("a candidate could not be sent: \(error)")
        }
    }

    func end() async { await handle.close() }
}

extension SessionRestart {
    /// What the error of a Janus says of a restart.
    init(failedWith error: any Error) {
        self =
            switch error {
            case JanusError.sessionGone, JanusError.connectionClosed: .gone
            case is HTTPClientError: .unreachable
            case JanusError.noJanus(let status?, _) where status >= 500: .unreachable
            default: .refused
            }
    }
}
