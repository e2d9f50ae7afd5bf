internal import Logging
public import NIOPosix
public import RTCShareContentShare
public import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// Watches publishers in a room of a Janus' VideoRoom: subscribes, receives, mends the connection, and takes its leave.
///
/// The pictures and sounds are named as their publishers are, as far as those are names that an attendee can have.
public actor JanusPlayer {
    /// The pictures and sounds that come: for tiles, sounds, statistics and the end.
    public nonisolated let session: AttendeeSession
    /// Why it ended, where the connection does not know.
    public private(set) var reason: (any Error)?
    /// The room, as the server has it once it was found.
    private var room: JanusID
    private let publishers: [String]
    private let credentials: JanusCredentials
    private let handle: JanusHandle
    private let logger: Logger
    private var tasks: [Task<Void, Never>] = []
    private var mending: Task<Void, Never>?
    /// The candidates that are sent to the server.
    private var candidates = TaskChain()
    private var isEnding = false

    /// How long to wait for servers that help to connect before the answer is made.
    private static let gatheringPatience = Duration.seconds(5)
    /// How often to look whether the room is still there: who subscribes is told nothing of its end (1.1.2), and silence may be
    /// a screen at rest.
    private static let lookPause = Duration.seconds(5)

    /// A player of what these publish in a room, by their names or their ids there.
    public init(
        url text: String, room: JanusID, publishers: [String], credentials: JanusCredentials = JanusCredentials(),
        as viewer: AttendeeID, configuration: Connection.Configuration = Connection.Configuration(),
        eventLoopGroup: MultiThreadedEventLoopGroup = .singleton
    ) async throws {
        guard let address = JanusAddress(text) else { throw JanusError.url }
        guard !address.url.hasUserInformation else { throw JanusError.userInformation }
        self.room = room
        self.publishers = publishers
        self.credentials = credentials
        logger = configuration.logger
        handle = JanusHandle(
            address, credentials, eventLoopGroup: eventLoopGroup, logger: configuration.logger)
        session = try await AttendeeSession.viewing(as: viewer, configuration: configuration.mending)
    }

    /// Subscribes. What comes then, ``session`` tells.
    /// - Throws: ``JanusError``, ``HTTPClientError``, `NegotiationError`. The session has ended then.
    public func start() async throws {
        let signals = await session.signals
        tasks.append(
            Task { [weak self] in
                for await signal in signals { await self?.handle(signal) }
            })
        tasks.append(
            Task { [weak self, handle] in
                for await event in handle.events { await self?.server(says: event) }
            })
        do {
            try await session.connection.gather(patience: Self.gatheringPatience)
            try await handle.open()
            try await subscribe()
            tasks.append(Task { [weak self] in await self?.watchRoom() })
        } catch {
            await leave()
            throw error
        }
    }

    /// Tells the server the end, and leaves.
    public func leave() async {
        isEnding = true
        await close()
    }

    private func close() async {
        mending?.cancel()
        for task in tasks { task.cancel() }
        await handle.close()
        await session.leave()
    }

    private func subscribe() async throws {
        let feeds = try await feeds()
        room = feeds.room
        var joining = JanusRoomRequest("join")
        joining.ptype = "subscriber"
        joining.room = feeds.room
        joining.pin = credentials.pin
        joining.token = credentials.token
        joining.streams = feeds.ids.map(JanusRoomRequest.Feed.init)
        let attached = try await handle.ask(joining)
        guard let offer = attached.description, offer.type == "offer" else { throw JanusError.noAnswer }
        try await answer(offer, of: attached.report)
    }

    /// Who is meant, and the room as it is called there.
    private func feeds() async throws -> (room: JanusID, ids: [JanusID]) {
        var listing = JanusRoomRequest("listparticipants")
        listing.room = room
        let listed: JanusRoomReport
        do {
            listed = try await handle.ask(listing).report
        } catch JanusError.refused(let refusal) where refusal.meaning == .wrongKind && refusal.names("room") {
            listing.room = room.asName
            listed = try await handle.ask(listing).report
        }
        let present = (listed.participants ?? []).filter { $0.publisher == true }
        let ids = try publishers.map { name throws(JanusError) in
            guard let found = present.last(where: { $0.display == name || $0.id.description == name }) else {
                throw .noPublisher(name, present: present.map { $0.display ?? $0.id.description })
            }
            return found.id
        }
        return (listing.room ?? room, ids)
    }

    private func answer(_ description: JanusDescription, of report: JanusRoomReport) async throws {
        let offer = try SessionDescription.parse(Self.named(description.sdp, by: report.streams ?? []))
        let answer = try await session.connection.answer(offer: offer)
        _ = try await handle.ask(
            JanusRoomRequest("start"), JanusDescription(type: "answer", sdp: answer.description, trickle: false))
    }

    /// The offer with its sections' streams called as their publishers are (RFC 8830): Janus has one name for all.
    static func named(_ offer: String, by streams: [JanusRoomReport.Stream]) -> String {
        let names = Dictionary(
            streams.compactMap { stream in
                stream.mid.flatMap { mid in
                    stream.feedDisplay.flatMap { (try? AttendeeID(named: $0)).map { (mid, $0.rawValue) } }
                }
            }, uniquingKeysWith: { first, _ in first })
        var sections: [[Substring]] = [[]]
        for line in offer.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        let named = sections.map { lines in
            let mid = lines.first { $0.hasPrefix("a=mid:") }?.dropFirst(6)
            guard let mid, let name = names[String(mid)] else { return lines }
            return lines.filter { !$0.hasPrefix("a=msid:") && !($0.hasPrefix("a=ssrc:") && $0.contains(" msid:")) }
                + ["a=msid:\(name) \(mid)"]
        }
        return named.joined().map { $0 + "\r\n" }.joined()
    }

    // MARK: While it lasts

    private func handle(_ signal: ConnectionSignal) async {
        guard !isEnding else { return }
        switch signal {
        case .state(.disconnected), .restartNeeded: mend()
        case .state(.connected):
            mending?.cancel()
            mending = nil
        case .localCandidate(let candidate, let mid, _):
            let message = JanusCandidate(sdpMid: mid, candidate: "candidate:\(candidate.value)")
            // A slow server must not delay the signals behind this one.
            candidates.append { [handle] in try? await handle.tell(message) }
        case .state, .localCandidatesEnded: return
        }
    }

    /// Looks for another way. If the server takes no part, the connection fails in its time.
    private func mend() {
        guard mending == nil else { return }
        mending = Task { [weak self] in
            let outcome = await findAnotherWay { [weak self] in await self?.restart() ?? .refused }
            if !Task.isCancelled { await self?.mendingDidEnd(outcome) }
        }
    }

    private func mendingDidEnd(_ outcome: SessionRestart) async {
        mending = nil
        if outcome == .gone { await end(for: JanusError.sessionGone) }
    }

    private func restart() async -> SessionRestart {
        var configuring = JanusRoomRequest("configure")
        configuring.restart = true
        do {
            let (report, offer) = try await handle.ask(configuring)
            if let offer { try await answer(offer, of: report) }
            return .begun
        } catch {
            logger.info("another route could not be requested: \(error)")
            return SessionRestart(failedWith: error)
        }
    }

    private func server(says event: JanusHandle.Event) async {
        guard !isEnding else { return }
        switch event {
        case .losses: return
        case .ended(let error): await end(for: error)
        case .report(let report, _) where report.videoroom == "destroyed": await end(for: JanusError.roomGone)
        case .report(let report, let offer):
            // Who published has left, as others end a share.
            if report.videoroom == "updated", report.streams?.allSatisfy({ $0.feedID == nil }) == true {
                return await end(for: nil)
            }
            guard let offer, offer.type == "offer" else { return }
            do {
                try await answer(offer, of: report)
            } catch {
                await end(for: error)
            }
        }
    }

    /// Ends it, where it has not ended already: a server hangs up on who leaves.
    private func end(for reason: (any Error)?) async {
        guard await !session.isOver else { return }
        self.reason = reason
        await close()
    }

    private func watchRoom() async {
        while (try? await Task.sleep(for: Self.lookPause)) != nil {
            var listing = JanusRoomRequest("listparticipants")
            listing.room = room
            do {
                _ = try await handle.ask(listing)
            } catch JanusError.refused(let refusal) where refusal.meaning == .noRoom {
                return await end(for: JanusError.roomGone)
            } catch {
                logger.debug("the room could not be looked at: \(error)")
            }
        }
    }
}
