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
    private var publishers: SubscribedPublishers
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

    nonisolated init(
        to publishers: SubscribedPublishers, in room: JanusID, _ credentials: JanusCredentials, handle: JanusHandle,
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
        var joining = JanusRoomRequest("join", room, credentials)
        joining.ptype = "subscriber"
        // The best layer could fill the path, and delay the request for another one for many seconds.
        joining.streams = feeds.map { JanusRoomRequest.Stream(feed: $0, substream: 0) }
        let attached = try await handle.ask(joining)
        guard let offer = attached.description, offer.type == "offer" else { throw JanusError.noAnswer }
        try await answer(offer, of: attached.report)
    }

    /// Returns the ids of the publishers to receive.
    private func feeds() async throws -> [JanusID] {
        var listing = JanusRoomRequest("listparticipants", room)
        let listed = try await handle.ask(ofRoom: &listing)
        room = listing.room ?? room
        return try publishers.start(with: listed)
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
        publishers.update(streams)
    }

    /// Waits for publishers who have all left, until all return or the time is over. Returns the reason for the end of
    /// the session, with which another one is started if some have returned; nil if none has.
    private func reasonOfEnd() async -> (any Error)? {
        let end = ContinuousClock.now + Self.returnTime
        var returned: Set<String> = []
        while returned != publishers.missing, ContinuousClock.now < end,
            (try? await Task.sleep(for: Self.returnPause)) != nil
        {
            do {
                returned = try await returnedPublishers()
            } catch {
                return error
            }
        }
        return returned.isEmpty ? nil : JanusError.sessionGone
    }

    /// Polls the room. Returns the publishers who are present again.
    private func returnedPublishers() async throws -> Set<String> {
        do {
            let report = try await handle.ask(JanusRoomRequest("listparticipants", room)).report
            return publishers.returned(in: report)
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
                // Another session receives them, too.
                if try await !returnedPublishers().isEmpty { return handle.end(for: JanusError.sessionGone) }
            } catch JanusError.roomGone {
                return handle.end(for: JanusError.roomGone)
            } catch {
                logger.debug("the room could not be looked at: \(error)")
            }
        }
    }
}
