internal import Logging
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The session of a subscriber at the server, which sends offers.
@SharingActor final class JanusSubscriber: ServerSession {
    /// The room's id, in the server's form after it was found.
    private var room: JanusID
    private let publishers: [String]
    /// The ids of the publishers at the start of the session.
    private var subscribed: [JanusID] = []
    /// Whether a publisher has left since then.
    private var isMissing = false
    /// The number of the latest polls of the room in which all publishers were present again.
    private var pollsWithAll = 0
    private let credentials: JanusCredentials
    private let connection: Connection
    private let handle: JanusHandle
    private let logger: Logger
    private var watching: Task<Void, Never>?
    private var layers = StreamLayers()
    private var choosing: Task<Void, Never>?

    /// The interval at which the room is polled: subscribers are not notified of its end (1.1.2), nor of publishers, and an
    /// idle screen is silent, too.
    private static let lookPause = Duration.seconds(5)
    /// The time in which publishers who have all left can publish again, as after a loss of their connection. Otherwise,
    /// they have ended the share.
    private static let returnTime = Duration.seconds(5)
    private static let returnPause = Duration.seconds(1)
    /// The number of polls, one after the other, that must show a return. A publisher who has just left can still be
    /// listed.
    private static let leastPolls = 2

    nonisolated init(
        to publishers: [String], in room: JanusID, _ credentials: JanusCredentials, handle: JanusHandle,
        connection: Connection, logger: Logger
    ) {
        (self.publishers, self.room, self.credentials) = (publishers, room, credentials)
        (self.handle, self.connection, self.logger) = (handle, connection, logger)
    }

    func begin() async throws -> DataRate? {
        try await connection.gather(patience: JanusHandle.gatheringPatience)
        try await handle.open()
        try await subscribe()
        watching = Task { [weak self] in await self?.watchRoom() }
        return nil
    }

    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        await handle.send(candidate, mid: mid)
    }

    func end() async {
        watching?.cancel()
        choosing?.cancel()
        await handle.close()
    }

    private func subscribe() async throws {
        let feeds = try await feeds()
        subscribed = feeds
        var joining = JanusRoomRequest("join", room, credentials)
        joining.ptype = "subscriber"
        // The best layer could fill the path, and delay the request for another one for many seconds.
        joining.streams = feeds.map { JanusRoomRequest.Stream(feed: $0, substream: 0) }
        let attached = try await handle.ask(joining)
        guard let offer = attached.description, offer.type == "offer" else { throw JanusError.noAnswer }
        try await answer(offer, of: attached.report)
    }

    /// Returns the ids of the requested publishers.
    private func feeds() async throws -> [JanusID] {
        var listing = JanusRoomRequest("listparticipants", room)
        let listed = try await handle.ask(ofRoom: &listing)
        room = listing.room ?? room
        return try publishers.map { name throws(JanusError) in
            guard let found = listed.publisher(named: name) else {
                throw .noPublisher(name, present: listed.publishers.map { $0.display ?? $0.id.description })
            }
            return found.id
        }
    }

    private func answer(_ description: JanusDescription, of report: JanusRoomReport) async throws {
        if let streams = report.streams { update(streams) }
        let offer = try await SessionDescription.reading(
            JanusPlayer.named(description.sdp, by: report.streams ?? []).utf8)
        let answer = try await connection.answer(offer: offer)
        _ = try await handle.ask(
            JanusRoomRequest("start"), JanusDescription(type: "answer", sdp: answer.description, trickle: false))
    }

    // MARK: Events

    func restart() async -> SessionRestart {
        var configuring = JanusRoomRequest("configure")
        configuring.restart = true
        do {
            try await handle.reconnect()
            let (report, offer) = try await handle.ask(configuring)
            if let offer { try await answer(offer, of: report) }
            return .begun
        } catch {
            logger.info("another route could not be requested: \(error)")
            return SessionRestart(failedWith: error)
        }
    }

    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) async {
        for await event in handle.events {
            switch event {
            case .losses: continue
            case .ended(let error): await take(.ended(error))
            case .report(let report, _) where report.videoroom == "destroyed":
                await take(.ended(JanusError.roomGone))
            // Only streams of a simulcast have layers.
            case .report(let report, nil) where report.substream != nil:
                if let mid = report.mid, let layer = report.substream { arrived(layer, ofStream: mid) }
            case .report(let report, _)
            where report.videoroom == "updated" && report.streams?.allSatisfy({ $0.feedID == nil }) == true:
                update(report.streams ?? [])
                await take(.ended(await reasonOfEnd()))
            case .report(let report, let offer?) where offer.type == "offer":
                do {
                    try await answer(offer, of: report)
                } catch {
                    await take(.ended(error))
                }
            case .report: continue
            }
        }
    }

    private func update(_ streams: [JanusRoomReport.Stream]) {
        layers.update(streams)
        let present = Set(streams.compactMap(\.feedID))
        isMissing = !subscribed.allSatisfy(present.contains)
    }

    /// Waits for publishers who have all left. Returns the reason for the end of the session, with which another one is
    /// started if the publishers return; nil if they do not.
    private func reasonOfEnd() async -> (any Error)? {
        let end = ContinuousClock.now + Self.returnTime
        while ContinuousClock.now < end, (try? await Task.sleep(for: Self.returnPause)) != nil {
            do {
                if try await havePublishersReturned() { return JanusError.sessionGone }
            } catch {
                return error
            }
        }
        return nil
    }

    /// Polls the room. Returns whether all publishers are present again after one had left.
    private func havePublishersReturned() async throws -> Bool {
        do {
            let listed = try await handle.ask(JanusRoomRequest("listparticipants", room)).report
            let isWhole = isMissing && publishers.allSatisfy { listed.publisher(named: $0) != nil }
            pollsWithAll = isWhole ? pollsWithAll + 1 : 0
            return pollsWithAll >= Self.leastPolls
        } catch JanusError.refused(let refusal) where refusal.meaning == .noRoom {
            throw JanusError.roomGone
        }
    }

    // MARK: Layers

    /// Records the layer that the server sends of a stream, and chooses it from now on.
    private func arrived(_ layer: Int, ofStream mid: String) {
        layers.arrived(layer, of: mid, now: .nanoseconds(MonotonicClock.now.nanoseconds))
        guard choosing == nil else { return }
        choosing = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(1))) != nil { await self?.chooseLayers() }
        }
    }

    private func chooseLayers() async {
        let streams = await connection.stats().inboundRTP.values
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        for stream in streams {
            guard let mid = stream.mid, let layer = layers.measured(mid, LayerCounts(stream), now: now) else {
                continue
            }
            logger.info("the video of section \(mid) is requested in substream \(layer)")
            // The next measurement does not wait for the answer.
            Task { await request(layer, ofStream: mid) }
        }
    }

    private func request(_ layer: Int, ofStream mid: String) async {
        var configuring = JanusRoomRequest("configure")
        configuring.streams = [JanusRoomRequest.Stream(mid: mid, substream: layer)]
        // The next event of the room restarts the choice.
        if (try? await handle.ask(configuring)) == nil { layers.end(mid) }
    }

    private func watchRoom() async {
        while (try? await Task.sleep(for: Self.lookPause)) != nil {
            do {
                // Another session receives all of them.
                if try await havePublishersReturned() { return handle.end(for: JanusError.sessionGone) }
            } catch JanusError.roomGone {
                return handle.end(for: JanusError.roomGone)
            } catch {
                logger.debug("the room could not be looked at: \(error)")
            }
        }
    }
}
